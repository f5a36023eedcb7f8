#include <iostream>

#include "support/embedded.hpp"
#include "support/version.hpp"

int main() {
  std::cout << "mansard " << mansard::kVersion << " holds " << mansard::embedded_files().size()
            << " files\n";
  return mansard::find_embedded("no such file") ? 1 : 0;
}
