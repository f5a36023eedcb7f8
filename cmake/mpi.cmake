# libmansard_mpi.so: a sweep by several processes (`mpirun -n 4 mansard sweep ...`), opened by support/plugin.hpp when
# mansard runs under mpirun. Built where MPI is; nothing else knows of it.
option(MANSARD_MPI "Build the library that lets processes of mpirun share a sweep, if MPI is there" ON)
if(NOT MANSARD_MPI)
  return()
endif()
find_package(MPI QUIET COMPONENTS CXX)
if(NOT MPI_CXX_FOUND)
  return()
endif()

add_library(mansard_mpi SHARED cli/mpi/team.cpp)
target_compile_features(mansard_mpi PRIVATE cxx_std_20)
target_compile_definitions(mansard_mpi PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
target_link_libraries(mansard_mpi PRIVATE mansard::model MPI::MPI_CXX)
target_link_options(mansard_mpi PRIVATE -Wl,--version-script=${CMAKE_CURRENT_LIST_DIR}/llvm.exports -Wl,-Bsymbolic)
add_dependencies(mansard mansard_mpi)
install(TARGETS mansard_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
