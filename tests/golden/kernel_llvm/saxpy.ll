; y[i] += a * x[i] over a grid-stride loop, as clang writes device code.
target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()

define void @saxpy(i32 %n, float %a, ptr noalias %x, ptr noalias %y) #0 !dbg !4 {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %ntid = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %ctaid = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %nctaid = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %base = mul nsw i32 %ctaid, %ntid
  %first = add nsw i32 %base, %tid
  %step = mul nsw i32 %ntid, %nctaid
  %any = icmp slt i32 %first, %n
  br i1 %any, label %loop, label %done, !dbg !5

loop:
  %i = phi i32 [ %first, %entry ], [ %next, %loop ]
  %at = sext i32 %i to i64
  %px = getelementptr inbounds float, ptr %x, i64 %at
  %py = getelementptr inbounds float, ptr %y, i64 %at
  %vx = load float, ptr %px, align 4, !dbg !6
  %vy = load float, ptr %py, align 4, !dbg !6
  %r = call float @llvm.fma.f32(float %a, float %vx, float %vy), !dbg !6
  store float %r, ptr %py, align 4, !dbg !6
  %next = add nsw i32 %i, %step
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done, !dbg !5

done:
  ret void
}

declare float @llvm.fma.f32(float, float, float)

attributes #0 = { "target-cpu"="sm_80" "target-features"="+ptx70,+sm_80" }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!nvvm.annotations = !{!3}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1, emissionKind: DebugDirectivesOnly)
!1 = !DIFile(filename: "saxpy.cu", directory: ".")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{ptr @saxpy, !"kernel", i32 1}
!4 = distinct !DISubprogram(name: "saxpy", file: !1, line: 1, unit: !0, spFlags: DISPFlagDefinition, type: !7)
!5 = !DILocation(line: 2, column: 3, scope: !4)
!6 = !DILocation(line: 3, column: 5, scope: !4)
!7 = !DISubroutineType(types: !8)
!8 = !{}
