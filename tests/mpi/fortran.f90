! Sorts by all ranks of the program that mpirun starts, from Fortran. Rank 0 gathers input and output, and sorts the
! input itself, by insertion. Many keys are equal, so the sort has to be stable.
program fortran
  use, intrinsic :: iso_c_binding
  use mpi
  use recsort
  implicit none

  type, bind(c) :: item
    real(c_float) :: key
    integer(c_int32_t) :: rank, position
  end type
  integer, parameter :: words = 3, most = 50
  character(*), parameter :: text = 'record: Item' // new_line('a') // 'fields:' // new_line('a') // &
    '  - {name: key, type: float32}' // new_line('a') // '  - {name: rank, type: int32}' // new_line('a') // &
    '  - {name: position, type: int32}' // new_line('a') // 'keys: [{field: key, order: desc}]' // new_line('a')
  type(item), allocatable, target :: own(:), found(:), wanted(:)
  integer, allocatable :: counts(:), starts(:)
  type(item) :: one
  type(recsort_error) :: error
  type(recsort_mpi_job) :: job
  type(c_ptr) :: schema, sorter
  integer :: rank, ranks, fail, i

  call MPI_Init(fail)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, fail)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, fail)

  call require(recsort_schema_load_text('record: 3', schema, error) /= recsort_ok, 'a wrong schema is taken')
  call require(index(recsort_message(error), 'schema:1:') == 1, 'the message is: ' // recsort_message(error))
  call require(recsort_schema_load_file('no such file', schema, error) /= recsort_ok, 'a missing file is taken')
  call require(index(recsort_message(error), 'no such file') > 0, 'the message is: ' // recsort_message(error))
  call require(recsort_schema_load_text(text, schema, error) == recsort_ok, recsort_message(error))
  call require(recsort_sorter_create(schema, c_null_ptr, sorter, error) == recsort_ok, recsort_message(error))
  call recsort_schema_destroy(schema)
  call require(recsort_record_size(sorter) == c_sizeof(one), 'the record has another size')

  ! The ranks have 0, 37, 24, ... records with 5 keys.
  own = [(item(real(mod(i * i + rank, 5)), rank, i), i = 1, mod(rank * 37, most))]
  allocate (counts(ranks), starts(ranks))
  call MPI_Allgather(size(own) * words, 1, MPI_INTEGER, counts, 1, MPI_INTEGER, MPI_COMM_WORLD, fail)
  starts = [(sum(counts(:i)), i = 0, ranks - 1)]
  call gather(wanted)
  call insert(wanted)

  call require(recsort_mpi_sort_array(sorter, MPI_COMM_WORLD, c_loc(own), size(own, kind=c_size_t), error, job) == recsort_ok, &
    recsort_message(error))
  call gather(found)
  call require(all_equal(found, wanted), 'the records are not in order')
  call require(job%total == sum(counts) / words, 'the total is wrong')
  call require(job%count == size(own), 'the count has changed')
  call require(sum_of(job%sent) == sum_of(int(count(own%rank /= rank), c_int64_t)), 'sent is wrong')

  ! What all refuse.
  call require(recsort_mpi_sort_array(c_null_ptr, MPI_COMM_WORLD, c_loc(own), size(own, kind=c_size_t), error) /= recsort_ok, &
    'no sorter is no error')
  call require(index(recsort_message(error), 'rank 0: sorter and job must not be NULL') == 1, recsort_message(error))

  ! In the memory of one rank.
  if (rank == 0) then
    wanted = [(item(real(mod(i * 7, 4)), 0, i), i = 1, most)]
    found = wanted
    call insert(wanted)
    call require(recsort_sort(sorter, c_loc(found), size(found, kind=c_size_t), error) == recsort_ok, recsort_message(error))
    call require(all_equal(found, wanted), 'the records of one rank are not in order')
  end if
  call recsort_sorter_destroy(sorter)
  call MPI_Finalize(fail)

contains

  subroutine require(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    integer :: fail
    if (condition) return
    print '(a, i0, 2a)', 'rank ', rank, ': ', what
    call MPI_Abort(MPI_COMM_WORLD, 1, fail)
  end subroutine

  integer(c_int64_t) function sum_of(own)
    integer(c_int64_t), intent(in) :: own
    integer :: fail
    call MPI_Allreduce(own, sum_of, 1, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD, fail)
  end function

  ! Rank 0 gets the records of all; the others, none.
  subroutine gather(to)
    type(item), allocatable, intent(out) :: to(:)
    integer, allocatable :: sent(:), got(:)
    integer :: fail
    allocate (got(merge(sum(counts), 0, rank == 0)))
    sent = [(transfer(own(i), [integer ::]), i = 1, size(own))]
    call MPI_Gatherv(sent, size(sent), MPI_INTEGER, got, counts, starts, MPI_INTEGER, 0, MPI_COMM_WORLD, fail)
    to = [(transfer(got(i * words - words + 1:i * words), item(0, 0, 0)), i = 1, size(got) / words)]
  end subroutine

  subroutine insert(items)
    type(item), intent(inout) :: items(:)
    integer :: i, at
    do i = 2, size(items)
      one = items(i)
      at = i
      do while (at > 1)
        if (items(at - 1)%key >= one%key) exit
        items(at) = items(at - 1)
        at = at - 1
      end do
      items(at) = one
    end do
  end subroutine

  logical function all_equal(a, b)
    type(item), intent(in) :: a(:), b(:)
    all_equal = size(a) == size(b)
    if (all_equal) all_equal = all(a%rank == b%rank .and. a%position == b%position)
  end function
end program
