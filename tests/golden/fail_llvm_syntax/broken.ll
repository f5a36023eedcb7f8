target triple = "nvptx64-nvidia-cuda"

define void @f(i32 %n) {
  %m = add i32 %n, %missing
  ret void
}
