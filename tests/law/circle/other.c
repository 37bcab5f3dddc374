/* other.c - the other half. */
int one(int count);
int other(int count);

int other(int count)
{
  return count > 0 ? one(count - 1) : 0;
}
