! recsort.f90 - recsort for Fortran 2018: mpi.h, and what a program needs for it of recsort.h.
!
! Compile this file with yours, and link with recsort_mpi and recsort. The headers, or recsort_mpi(3), say what
! the procedures do. Here only what is different:
!
!   A record is of a type with the attribute bind(c), so that the schema, with C's layout, describes it.
!   Opaque C pointers are type(c_ptr); c_null_ptr is C's NULL.
!   recsort_mpi_sort_array sorts an array of yours in place: each rank keeps as many records as it had.
module recsort
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: recsort_error, recsort_mpi_job, recsort_ok
  public :: recsort_schema_load_file, recsort_schema_load_text, recsort_schema_destroy
  public :: recsort_sorter_create, recsort_sorter_destroy, recsort_record_size
  public :: recsort_sort, recsort_mpi_sort, recsort_mpi_sort_array, recsort_message

  integer(c_int), parameter :: recsort_ok = 0

  type, bind(c) :: recsort_error
    integer(c_int) :: status = recsort_ok
    integer(c_int32_t) :: line = 0, column = 0
    character(kind=c_char) :: text(500) = c_null_char
  end type

  type, bind(c) :: recsort_mpi_job
    integer(c_size_t) :: struct_size = 0 ! recsort_mpi_sort sets it
    type(c_ptr) :: records = c_null_ptr
    integer(c_size_t) :: count = 0
    type(c_ptr) :: allocator = c_null_ptr, splitters = c_null_ptr
    logical(c_bool) :: balance = .false.
    real(c_double) :: tolerance = 0
    integer(c_size_t) :: message = 0
    integer(c_int64_t) :: total = 0, sent = 0
    integer(c_int) :: rounds = 0
    real(c_double) :: sort_seconds = 0, split_seconds = 0, exchange_seconds = 0, merge_seconds = 0
  end type

  type, bind(c) :: recsort_stats
    integer(c_size_t) :: records, record_size
    integer(c_int) :: key_bits, key_width, index_bits, threads
    type(c_ptr) :: plugin, algorithm, choice, transfer, fallback
    integer(c_size_t) :: memory
    logical(c_bool) :: whole_records
    real(c_double) :: encode_seconds, sort_seconds, verify_seconds, permute_seconds
  end type

  interface
    subroutine recsort_schema_destroy(schema) bind(c)
      import :: c_ptr
      type(c_ptr), value :: schema
    end subroutine

    subroutine recsort_sorter_destroy(sorter) bind(c)
      import :: c_ptr
      type(c_ptr), value :: sorter
    end subroutine

    subroutine get_stats(sorter, stats, size) bind(c, name='recsort_sorter_get_stats')
      import :: c_ptr, c_size_t, recsort_stats
      type(c_ptr), value :: sorter
      type(recsort_stats), intent(out) :: stats
      integer(c_size_t), value :: size
    end subroutine

    ! `options` is c_null_ptr, or leads to a struct that C has made.
    function recsort_sorter_create(schema, options, sorter, error) bind(c) result(status)
      import :: c_ptr, c_int, recsort_error
      type(c_ptr), value :: schema, options
      type(c_ptr), intent(out) :: sorter
      type(recsort_error), intent(out) :: error
      integer(c_int) :: status
    end function

    function recsort_sort(sorter, records, count, error) bind(c) result(status)
      import :: c_ptr, c_size_t, c_int, recsort_error
      type(c_ptr), value :: sorter, records
      integer(c_size_t), value :: count
      type(recsort_error), intent(out) :: error
      integer(c_int) :: status
    end function

    function load_file(path, allocator, schema, error) bind(c, name='recsort_schema_load_file') result(status)
      import :: c_ptr, c_char, c_int, recsort_error
      character(kind=c_char), intent(in) :: path(*)
      type(c_ptr), value :: allocator
      type(c_ptr), intent(out) :: schema
      type(recsort_error), intent(out) :: error
      integer(c_int) :: status
    end function

    function load_memory(text, size, name, allocator, schema, error) bind(c, name='recsort_schema_load_memory') result(status)
      import :: c_ptr, c_char, c_size_t, c_int, recsort_error
      character(kind=c_char), intent(in) :: text(*), name(*)
      integer(c_size_t), value :: size
      type(c_ptr), value :: allocator
      type(c_ptr), intent(out) :: schema
      type(recsort_error), intent(out) :: error
      integer(c_int) :: status
    end function

    function sort_fortran(sorter, comm, job, error) bind(c, name='recsort_mpi_sort_fortran') result(status)
      import :: c_ptr, c_int, recsort_mpi_job, recsort_error
      type(c_ptr), value :: sorter
      integer(c_int), value :: comm ! MPI_Fint: of MPI libraries for default integers
      type(recsort_mpi_job), intent(inout) :: job
      type(recsort_error), intent(out) :: error
      integer(c_int) :: status
    end function

    function c_malloc(size) bind(c, name='malloc') result(memory)
      import :: c_ptr, c_size_t
      integer(c_size_t), value :: size
      type(c_ptr) :: memory
    end function

    subroutine c_free(memory) bind(c, name='free')
      import :: c_ptr
      type(c_ptr), value :: memory
    end subroutine

    function c_memcpy(to, from, size) bind(c, name='memcpy') result(same)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: to, from
      integer(c_size_t), value :: size
      type(c_ptr) :: same
    end function
  end interface

contains

  ! Bytes. With c_null_ptr it is 0.
  function recsort_record_size(sorter) result(size)
    type(c_ptr), intent(in) :: sorter
    integer(c_size_t) :: size
    type(recsort_stats) :: stats
    call get_stats(sorter, stats, c_sizeof(stats))
    size = stats%record_size
  end function

  function recsort_schema_load_file(path, schema, error) result(status)
    character(*), intent(in) :: path
    type(c_ptr), intent(out) :: schema
    type(recsort_error), intent(out) :: error
    integer(c_int) :: status
    status = load_file(path // c_null_char, c_null_ptr, schema, error)
  end function

  function recsort_schema_load_text(text, schema, error) result(status)
    character(*), intent(in) :: text
    type(c_ptr), intent(out) :: schema
    type(recsort_error), intent(out) :: error
    integer(c_int) :: status
    status = load_memory(text, int(len(text), c_size_t), 'schema' // c_null_char, c_null_ptr, schema, error)
  end function

  ! Collective. `job%records` is memory of C's malloc; the sort releases it, and you own what is there afterwards.
  function recsort_mpi_sort(sorter, comm, job, error) result(status)
    type(c_ptr), intent(in) :: sorter
    integer, intent(in) :: comm ! of mpi_f08: comm%mpi_val
    type(recsort_mpi_job), intent(inout) :: job
    type(recsort_error), intent(out) :: error
    integer(c_int) :: status
    job%struct_size = c_sizeof(job)
    status = sort_fortran(sorter, int(comm, c_int), job, error)
  end function

  ! Collective. `records` is c_loc of an array of `count` records. If there is an error, no rank's records have changed. Memory:
  ! one more array than recsort_mpi_sort takes.
  function recsort_mpi_sort_array(sorter, comm, records, count, error, job) result(status)
    type(c_ptr), intent(in) :: sorter, records
    integer, intent(in) :: comm
    integer(c_size_t), intent(in) :: count
    type(recsort_error), intent(out) :: error
    type(recsort_mpi_job), intent(out), optional :: job ! what the sort did
    integer(c_int) :: status
    type(recsort_mpi_job) :: sorting
    type(c_ptr) :: same
    integer(c_size_t) :: size
    size = count * recsort_record_size(sorter)
    if (size > 0) then
      sorting%records = c_malloc(size)
      if (c_associated(sorting%records)) same = c_memcpy(sorting%records, records, size)
    end if
    sorting%count = count
    ! A rank without memory takes part, so that no other one waits for it: records of NULL are refused everywhere.
    status = recsort_mpi_sort(sorter, comm, sorting, error)
    if (status == recsort_ok .and. size > 0) same = c_memcpy(records, sorting%records, size)
    if (c_associated(sorting%records)) call c_free(sorting%records)
    if (present(job)) job = sorting
    if (present(job)) job%records = c_null_ptr
  end function

  ! The text of an error.
  pure function recsort_message(error) result(text)
    type(recsort_error), intent(in) :: error
    character(:), allocatable :: text
    integer :: i, length
    length = findloc(error%text, c_null_char, dim=1) - 1
    allocate (character(length) :: text)
    do i = 1, length
      text(i:i) = error%text(i)
    end do
  end function
end module
