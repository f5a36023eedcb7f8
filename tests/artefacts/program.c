#include <inttypes.h>
#include <stdio.h>

#include "header.h"

/* Prints a bound or an estimate as mansard's CSV does, by way of the shortest digits that read
   back as the same double. */
static void print(double value) {
  char text[32];
  for (int digits = 1; digits <= 17; ++digits) {
    double back = 0;
    snprintf(text, sizeof text, "%.*g", digits, value);
    sscanf(text, "%lf", &back);
    if (back == value) {
      break;
    }
  }
  fputs(text, stdout);
}

int main(void) {
  enum { kPoints = 37 };
  double batch[kPoints];
  double bound[kPoints];
  double estimate[kPoints];
  for (int i = 0; i < kPoints; ++i) {
    batch[i] = i + 1;
  }
  const double* in[MANSARD_INPUTS] = {batch};
  double* out[MANSARD_OUTPUTS] = {bound, estimate};
  mansard_evaluate(in, out, kPoints);
  for (int i = 0; i < kPoints; ++i) {
    printf("%d,", i + 1);
    print(bound[i]);
    putchar(',');
    print(estimate[i]);
    putchar('\n');
  }
  return 0;
}
