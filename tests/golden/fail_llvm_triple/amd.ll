target triple = "amdgcn-amd-amdhsa"

define void @f() {
  ret void
}
