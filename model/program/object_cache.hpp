#pragma once

#include <optional>
#include <string>

namespace mansard::model {

/// The machine code of one program on disk, in `MANSARD_CACHE`, `XDG_CACHE_HOME`/mansard or
/// ~/.cache/mansard, named by a hash of the program and of the processor. The file holds the text
/// that was hashed, so that another program of the same hash is not taken for it. Writers rename
/// whole files into place; the folder is kept below 64 MiB. Where it cannot be written, nothing is
/// kept.
class ObjectCache {
 public:
  ObjectCache(const std::string& host, const std::string& fingerprint);

  [[nodiscard]] std::optional<std::string> find() const;
  void keep(const std::string& object) const;

 private:
  std::string text_;
  std::string path_;  ///< Empty where there is no folder to keep things in.
};

}  // namespace mansard::model
