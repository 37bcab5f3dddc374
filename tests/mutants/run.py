#!/usr/bin/env python3
"""Plants small faults in the source, to check that the tests find each of them.

Usage: run.py [-j JOBS] [WORD]     WORD: only mutants whose file or text contains it, such as
                                   plugins/cpu/merge.c; merge.c also takes those of runs/merge.c
       run.py --check              only looks whether each mutant still applies

Every mutant is built in a scratch copy of the working tree and run against the unit and schema
tests and, if these pass, against the conformance suite, or for threads against their own tests.
Mutants of the CUDA plugin's host code run against its tests, those of kernels against the emulated
sorts or records. A mutant that passes all tests has survived: a test is missing, or the change
makes no difference. Takes an hour, most of it for kernels, and is not one of the default tests.
Exit status: 0 all were found, 1 some survived, 2 a mutant no longer applies.
"""
import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# file, text that occurs once in it, its replacement. Changes that make no difference are left out:
# `<=` for `<` if two words are known to differ, and a tile that leaves its bound to the next one.
# So are those in order.c that settle() repairs, which only take longer.
MUTANTS = [
    # the tie rule and the cuts
    ('core/base/co_rank.h', '((left) <= (right))', '((left) < (right))'),
    ('core/base/co_rank.h', 'b.at[rank - i - 1]', 'b.at[rank - i]'),
    ('core/base/co_rank.h', 'rank > b.count ? rank - b.count : 0', '0'),
    ('core/base/co_rank.h', 'if (run.at[i] < x)', 'if (run.at[i] <= x)'),
    ('plugins/cpu/sequential.c', 'return false;\n}\n\n/* Merges', 'return true;\n}\n\n/* Merges'),
    ('plugins/cpu/sequential.c', 'size_t w = words; w-- > 0;', 'size_t w = 0; w < words; w++'),
    # merges
    ('plugins/runs/merge_runs.c', 'memcpy(out + (x_end - x), y, (size_t)(y_end - y) * sizeof *y);',
     ';'),
    ('plugins/runs/merge_runs.c', 'concatenate(b, a, out);', 'concatenate(a, b, out);'),
    ('plugins/cpu/block_sort.c', 'j > 0 && to[j - 1] > pair', 'j > 1 && to[j - 1] > pair'),
    ('plugins/runs/merge_runs.c', 'rest == 0 || last == a.count', 'last == a.count'),
    ('plugins/runs/kernels_scalar.c', 'k < count - 3 * q', 'k < count - 3 * q - 1'),
    ('plugins/cpu/multiway.c', 'if (below < rank) low.at[pick]++;', ''),
    ('plugins/cpu/presorted.c', 'else if (full.ascents == 0)', 'else if (full.ascents <= 1)'),
    ('plugins/cpu/presorted.c', 'if (full.descents == 0)', 'if (full.descents <= 1)'),
    ('plugins/cpu/presorted.c', 'while (!key_begins(buffers, range.end))', 'while (false)'),
    ('plugins/cpu/presorted.c', 'if (a->keeps > 0) break;', 'break;'),
    ('plugins/cpu/presorted.c', 'drops -= PATIENCE;', ''),
    ('plugins/cpu/presorted.c', 'in_a_row > 0; in_a_row--, i--', 'in_a_row > 0; in_a_row--'),
    ('plugins/cpu/presorted.c', 'drop_more(b, 0, early);', ';'),
    ('plugins/cpu/presorted.c', 'drop_more(a, below, a->keeps);', ';'),
    ('plugins/cpu/presorted.c', 'while (next < all->count && all->at[next].keeps == 0)',
     'while (false)'),
    # whole records on the CPU
    ('plugins/cpu/order.c', 'if (low > bottom) result = settle(keys, width, count, true, order);', ''),
    ('plugins/cpu/order.c', 'if (low > bottom) result', 'if (low > bottom + 4) result'),
    ('plugins/cpu/order.c', 'varying |= keys[i] ^ keys[0];', 'varying |= keys[i] ^ keys[1];'),
    ('plugins/cpu/order.c', '__builtin_ctzll(s.varying);', '__builtin_ctzll(s.varying) + 1;'),
    ('plugins/cpu/order.c', 'words[i] &= (UINT32_C(1) << index_bits) - 1;', ';'),
    ('plugins/cpu/order.c', 'least_of(index_bits + lower_bits, 31)', 'index_bits'),
    ('plugins/cpu/order.c', 'if (upper_bits == 0) return false;', 'if (upper_bits == 0) return true;'),
    ('plugins/cpu/order.c', 'begin += keys;', ''),
    ('plugins/cpu/order.c', 'if (some <= FEW_WORDS)', 'if (some <= 2 * FEW_WORDS)'),
    ('plugins/cpu/order.c', '+ lower_bits, 31); /*', '+ lower_bits, 32); /*'),
    ('plugins/cpu/order.c', 'if (low > bottom || !proven) result', 'if (!proven) result'),
    ('plugins/cpu/order.c', 'count <= FEW_WORDS && count > FEW_WORDS * 2 / 3', 'count <= FEW_WORDS + 1 && count > FEW_WORDS * 2 / 3'),
    ('plugins/cpu/order.c', 'order[i]) & mask;', 'order[i]);'),
    ('plugins/cpu/order.c', ', &found) ? found : KEYS_UNORDERED;\n#endif', ', &found) ? found : found;\n#endif'),
    ('plugins/cpu/records.c', 'look == ASCENDING && s.buckets > 1', 'false'),
    ('plugins/cpu/records.c', '(s.nearly && s.team.threads > 1)', 'false'),
    ('plugins/cpu/records.c', 's->buckets == 1 || s->team.threads > 1', 'true'),
    ('plugins/cpu/records.c', '(s->nearly ? rs_keys_order_nearly : rs_keys_order)', 'rs_keys_order'),
    ('plugins/cpu/wide_order.c', 'return x[w] < y[w];', 'return x[w] > y[w];'),
    ('plugins/cpu/wide_order.c', 'is_less(wide, order[i], order[i - 1])', 'is_less(wide, order[i - 1], order[i])'),
    ('plugins/cpu/wide_order.c', 'if (found != KEYS_UNORDERED || nearly) return found;', 'return found;'),
    ('plugins/cpu/wide_order.c', 'spare[i] = order[other[i]];', 'spare[i] = other[order[i]];'),
    ('plugins/cpu/wide_order.c', 'keys[order[i] * wide->words + w]', 'keys[i * wide->words + w]'),
    ('plugins/cpu/wide_order.c', '!= KEYS_UNORDERED || nearly)', '!= KEYS_UNORDERED)'),
    ('plugins/cpu/records.c', 'const size_t more = is_wide(s) ?', 'const size_t more = false ?'),
    ('core/key/encode.c', 'keys[i * words + 1] |= codes[i] >> (64 - bit);', ';'),
    ('core/key/encode.c', 'const bool whole = step->width == 8u * step->bytes;', 'const bool whole = true;'),
    ('core/key/encode.c', 'valid &= step_codes(&range, step, count, codes);', 'valid = step_codes(&range, step, count, codes);'),
    ('core/key/encode.c', 'memset(keys, 0, count * words * sizeof *keys);', ''),
    ('plugins/cpu/few_words_avx2.c', 'C(0, 4) C(1, 5) C(2, 6) C(3, 7) C(0, 2)', 'C(0, 4) C(1, 5) C(2, 6) C(0, 2)'),
    ('plugins/cpu/few_words_avx2.c', 'FLIP(5, 6, width)', ''),
    ('plugins/cpu/few_words_avx2.c', '0xcc);\n  within_2', '0x0c);\n  within_2'),
    ('plugins/cpu/few_words_avx2.c', 'exchange(b, &beside_b);', ''),
    ('plugins/cpu/few_words_avx2.c', 'apart >= ROWS; apart /= 2', 'apart > ROWS; apart /= 2'),
    ('plugins/cpu/few_words_avx2.c', 'count > WIDTH ? ROWS : 1', 'count > WIDTH + 1 ? ROWS : 1'),
    ('plugins/cpu/few_words.c', 'bits > DIGIT_BITS ? bits - DIGIT_BITS : 0', '0'),
    ('plugins/cpu/few_words.c', 'all |= words[i];', ''),
    ('plugins/cpu/few_words.c', 'digit[j] < digits[i / LANES + v]', 'digit[j] <= digits[i / LANES + v]'),
    ('plugins/cpu/few_words.c', 'words[next[rank[i]]++]', 'words[next[rank[i]]]'),
    ('plugins/cpu/order.c', 'upper[1][next >> upper_at]++;', 'upper[1][next >> index_bits & lower_mask]++;'),
    ('plugins/cpu/order.c', 'upper[1][words[count - 1] >> upper_at]--;', ''),
    ('plugins/cpu/order.c', 'if (at > 0 && order[at - 1] == index) return WRONG;', ''),
    ('plugins/cpu/order.c', 'if (!proven && index >= count) return WRONG;', ''),
    ('plugins/cpu/order.c', '(proven || order[i - 1] < index)', 'true'),
    ('plugins/cpu/order.c', 'descents += keys[i] < keys[i - 1];', 'descents += keys[i] < keys[0];'),
    ('plugins/cpu/order.c', '(key == other_key && index < other)', 'false'),
    ('plugins/cpu/order.c', 'keys + i + 1, sizeof next', 'keys + i, sizeof next'),
    ('plugins/cpu/order.c', 'any[0] | any[1] | any[2] | any[3]', 'any[0] | any[1] | any[2]'),
    ('plugins/cpu/order.c', 'i + STRIDE < count && last <= key &&', 'i + STRIDE < count &&'),
    ('plugins/cpu/order.c', 'order[at + STRIDE - 1] == i + STRIDE - 1', 'order[at] == i'),
    ('plugins/cpu/order.c', 'keep -= STRIDE;', 'keep -= STRIDE - 1;'),
    ('plugins/cpu/order.c', 'return !memchr(seen, 0, count);', 'return true;'),
    ('plugins/cpu/order.c', '&& order[i] <= count - STRIDE)', ')'),
    ('plugins/cpu/order.c', 'memset(seen + order[i], 1, STRIDE);', 'memset(seen + i, 1, STRIDE);'),
    ('plugins/cpu/records.c', 'threads < 3 ? WORTH_TWO : WORTH_THREE', 'WORTH_THREE'),
    ('plugins/cpu/records.c', 'WORTH_THREE = 1 << 16', 'WORTH_THREE = 1 << 15'),
    ('plugins/cpu/splitters.c', 'if (begins && after > cell_end(s, cell))', 'if (begins || after > 0)'),
    ('plugins/cpu/splitters.c', 'words[i] < s->low ? 0 :', ''),
    ('plugins/cpu/splitters.c', 's->steps = bits_of(most);', 's->steps = 0;'),
    ('plugins/cpu/streams.h', 'memcpy(part, part + STREAM_PART, STREAM_RECORD);', ''),
    ('plugins/cpu/streams.h', 's->filled - STREAM_PART, 0}', 's->filled - STREAM_PART, s->skipped}'),
    ('plugins/cpu/streams.h', 'memcpy(s->to, part + s->skipped, size);', ''),
    ('plugins/cpu/records.c', 'if (at - first > s->room) return false;', 'if (first > at) return false;'),
    ('plugins/cpu/gather.c', 'if (some == RUN && is_index_run(', 'if (some == RUN && !is_index_run('),
    ('plugins/cpu/gather.c', 'from + first * g->size', 'from'),
    ('plugins/cpu/records.c', 'if (s->sorted == s->records) team_each', 'if (0) team_each'),
    ('plugins/cpu/records.c', 'if (!s->good || !place_buckets(s))', 'if (!place_buckets(s))'),
    ('plugins/cpu/records.c', 'return s->index_bits ? key << s->index_bits | i : key;', 'return key << s->index_bits | i;'),
    # memory that is reserved, and a plugin that refuses records
    ('core/pipeline.c', 'instance->sorts_in_host && !sorter->planned.takes_records', 'false'),
    ('core/pipeline.c', 'block->job.count == count', 'true'),
    ('core/pipeline.c', 'block->copy_size == copy_size', 'true'),
    ('core/pipeline.c', 'sorter->planned.plugin = NULL;', ''),
    ('core/pipeline.c', 'block->plugin == sorter->choice.in_use', 'block->plugin'),
    ('core/pipeline.c', 'way < (sorter->head ? 2 : 4)', 'way < 4'),
    ('core/head.c', 'FEW * sorter->head - 1 : count', 'count : count'),
    ('plugins/cpu/records.c', 'while (buckets <= wanted', 'while (buckets < wanted'),
    # merges of runs
    ('plugins/runs/merge.c', 'if (pieces[p].from[r] > pieces[p].to[r]) return false;', ''),
    ('core/key/encode.c', '| (magnitude > infinity)', '| (magnitude >= infinity)'),
    ('core/key/encode.c', 'number = raw & (magnitude != 0)', 'number = raw'),
    ('core/key/encode.c', '(number >> 31 | INT32_MIN) ^ flip', '(number >> 31 | INT32_MIN)'),
    ('core/key/encode.c', 'RECSORT_KEY_DESCENDING ? -1 : 0', 'RECSORT_KEY_DESCENDING ? -1 : 1'),
    ('core/key/encode.c', 'key_load(key_at(&place, i + j), 4, big)', 'key_load(key_at(&place, i + j), 4, false)'),
    ('core/key/encode.c', 'RECSORT_KEY_NAN_TOTAL | RECSORT_KEY_NAN_FIRST', 'RECSORT_KEY_NAN_TOTAL'),
    ('core/key/encode.c', 'RECSORT_KEY_NAN_TOTAL | RECSORT_KEY_NAN_FIRST', 'RECSORT_KEY_NAN_FIRST'),
    ('core/key/encode.c', 'encode_floats(place, count - rest, rest, big, flip, keys);', ';'),
    ('plugins/runs/zip.c', 'chosen = right ? b : a;', 'chosen = right ? a : b;'),
    ('plugins/runs/zip.c', 'chain1 = a1, chain2 = a2,', 'chain1 = a2, chain2 = a1,'),
    ('plugins/runs/keys.c', 'turned += narrow[i - 1] > narrow[i];', 'turned += narrow[i - 1] > narrow[i] + 1;'),
    ('plugins/runs/keys.c', 'turned += wide[i - 1] > wide[i];', 'turned += wide[i - 1] > wide[i] + 1;'),
    ('plugins/runs/keys.c', 'for (size_t begin = 1, end;', 'for (size_t begin = BLOCK, end;'),
    ('core/permute/permute.c', 'if (wrong) return false;', ''),
    ('plugins/runs/cuts.c', 'return a->run != b->run ? a->run < b->run : a->at < b->at;', 'return false;'),
    ('plugins/runs/cuts.c', 'if (order) return order < 0;', ''),
    ('plugins/runs/cuts.c', 'begin + r < splitter->run, scratch)', 'begin + r > splitter->run, scratch)'),
    ('plugins/runs/cuts.c', '? splitter->at', '? 0'),
    ('plugins/runs/tile.c', 'count_below(t, r, least, r < bound)', 'count_below(t, r, least, r > bound)'),
    ('plugins/runs/tile.c', 'run_compare(t->key_size, last, least) >= 0) continue;', 'run_compare(t->key_size, last, least) > 0) continue;'),
    ('plugins/runs/tile.c', 'if (bits.all || repair(t, merged, total)) return merged;', 'return merged;'),
    ('plugins/runs/tile.c', 'key_of_pair(t, pairs[j - 1]), key) <= 0) break;', 'key_of_pair(t, pairs[j - 1]), key) < 0) break;'),
    ('plugins/runs/tile.c', 'other_runs = (UINT64_C(1) << bits) - run;', 'other_runs = 0;'),
    ('plugins/runs/tile.c', 'used > room ? used - room : 0, used <= room};', '0, true};'),
    ('plugins/runs/tile.c', 'high > room ? high - room : 0, high <= room};', 'high > room ? high - room : 0, true};'),
    ('plugins/runs/tile.c', ' | word_at(key, next) << 1 << (63 - bit)', ''),
    ('plugins/runs/tile.c', 'greatest - least < PAIR_MARK >> bits;', 'true;'),
    ('plugins/runs/tile.c', 'run->index += taken;', ''),
    ('plugins/runs/tile.c', 'if (!t->pass->check) return true;', 'return true;'),
    ('plugins/runs/tile.c', 'keys - t->key_size, count + 1)', 'keys, count)'),
    ('plugins/runs/tile.c', 'format->flip == 0 && ', ''),
    ('plugins/runs/tile.c', 'how.mark ? how.mark | r : 0;', 'how.mark;'),
    ('plugins/runs/tile.c', 'pass->relative ? t->runs[r].first : 0', '0'),
    ('plugins/runs/tile.c', 'pass->relative ? t->runs[r].first : 0', 't->runs[r].first'),
    ('plugins/runs/tile.c', 'if (piece->to[g] == from) continue;', ''),
    ('plugins/runs/tile.c', '*list += run->taken * t->pass->order_size;', ''),
    ('plugins/runs/tile.c', 'if (count == 2) return false;', 'if (count == 2) break;'),
    ('plugins/runs/tile.c', 't->out_indices += count * t->pass->order_size;', ';'),
    ('plugins/runs/tile.c', 'const bool all = order < 0 || (or_equal && order == 0);', 'const bool all = order <= 0;'),
    ('plugins/runs/tile.c', 'run_compare(t->key_size, key, least) >= 0) continue;', 'run_compare(t->key_size, key, least) > 0) continue;'),
    ('plugins/runs/tile.c', 'drain_run(t, only, least, only < from)', 'drain_run(t, only, least, true)'),
    ('plugins/runs/tile.c', '&parts->keys, most + fan, key_size)', '&parts->keys, most, key_size)'),
    ('plugins/runs/zip.c', 'if (b < zip->b.count) memcpy', 'if (b + 1 < zip->b.count) memcpy'),
    ('plugins/runs/zip.c', 'right ? !a_goes_first(zip, a, place, key_size)', 'right ? a_goes_first(zip, a, place, key_size)'),
    ('plugins/runs/zip.c', 'low = place + 1;', 'low = place + 2;'),
    ('plugins/runs/zip.c', 'b += right ? count : 0;', 'b += right ? 1 : 0;'),
    ('plugins/runs/zip.c', 'while (rank3 > 3 * quarter)', 'while (rank3 > 3 * quarter + 1)'),
    ('plugins/runs/zip.c', 'a3 == 0 || ', ''),
    ('plugins/runs/runs.h', '(uint128)words[1] << 64', '(uint128)words[0] << 64'),
    ('plugins/runs/tree.c', '(a.run < b.run) &', '(a.run > b.run) &'),
    ('plugins/runs/tree.c', '((a.run < b.run) & equal_or_less)', 'equal_or_less'),
    ('plugins/runs/tree.c', 'run | SPENT', 'run'),
    ('plugins/runs/tree.c', 'if (order) return order < 0;', ''),
    ('plugins/runs/keys.c', 'i * key_size) > 0) return false;', 'i * key_size) >= 0) return false;'),
    ('plugins/runs/keys.c', '> run_key_of_16(keys + i * 16);', '>= run_key_of_16(keys + i * 16);'),
    ('plugins/runs/merge.c', 'job->in_place && plan->passes % 2;', 'false;'),
    ('plugins/runs/merge.c', 'place ? keys : keys + key_size, count + (place != 0)', 'keys + key_size, count'),
    ('plugins/runs/merge.c', 'if (any && run_compare(key_size, last, next) > 0) return false;', ''),
    ('plugins/runs/merge.c', 'if (!rs_run_in_order(key_size,', 'if (0 && !rs_run_in_order(key_size,'),
    ('plugins/runs/merge.c', 'const size_t copy = (behind + 1) % 2;', 'const size_t copy = 0;'),
    ('plugins/runs/merge.c', 'pass->relative = false;', ''),
    ('plugins/runs/merge.c', 'pass->index_size = pass->order_size;', ''),
    ('plugins/runs/merge.c', 'pass->format.flip = 0;', ''),
    ('plugins/runs/merge.c', '+ (pieces < PIECES ? PIECES : pieces);', '+ pieces;'),
    ('plugins/cpu/merge_extension.c', 'if (step->flags & RECSORT_KEY_DESCENDING) format.flip', 'if (0) format.flip'),
    ('core/merge.c', 'offsets[r + 1] < offsets[r])', 'offsets[r + 1] + 1 < offsets[r])'),
    ('core/merge.c', 'if (own[r].count && !own[r].records)', 'if (0)'),
    ('core/merge.c', 'if (linked_in || (!unsupported && !sorter->choice.automatic)) return status;', 'return status;'),
    ('core/merge.c', 'merger->lost = merged == RECSORT_PLUGIN_LOST;', ''),
    # the first records
    ('core/head.c', 'if (a[w] != b[w]) return a[w] < b[w];', 'if (a[w] > b[w]) return false;'),
    ('core/head.c', 'part.low < end && part.high > first', 'part.low < end && part.high > first + 1'),
    ('core/head.c', 'part.low < end && part.high', 'part.low + 1 < end && part.high'),
    ('core/head.c', 'place(c, s->head - 1, s->head, s->words);', ';'),
    ('core/head.c', 'place(c, 0, s->head, s->words);', ';'),
    ('core/head.c', '[0] < first) {', '[0] < first + 100000) {'),
    ('core/head.c', 'any |= top_of(c->keys, i + j, width, words) <= most;', 'any |= top_of(c->keys, i + j, width, words) < most;'),
    ('core/head.c', 'add_some(s, c, first, i, count, width, words);', ';'),
    ('core/head.c', 'if (words > 2)\n', 'if (words > 3)\n'),
    ('core/head.c', 'if (c->count == s->capacity) keep_least(s, c);', ''),
    ('core/head.c', 'slot < s->team.threads; slot++', 'slot + 1 < s->team.threads; slot++'),
    ('core/head.c', 'sorter->head <= count / FEW', 'sorter->head <= count'),
    ('core/head.c', ' && sorter->verify != RECSORT_VERIFY_FULL', ''),
    ('core/pipeline.c', 'r->order.count = rs_head_count(sorter, r->count);', ''),
    ('core/pipeline.c', 'if (wanted < count) r.bytes = 0;', ''),
    ('core/key/encode.c', '!(step->flags & RECSORT_KEY_DESCENDING) &&\n         big ==', 'big =='),
    ('core/key/encode.c', ' &&\n         big == key_host_is_big_endian();', ';'),
    ('core/key/encode.c', 'program->record_size == step->bytes && ', ''),
    ('core/key/encode.c', 'step->kind == RECSORT_KEY_UNSIGNED &&\n         8u', '8u'),
    ('plugins/cuda/head/head.cu', 'return tie ? a.words[0] < b.words[0] : key_is_less(a, b);', 'return key_is_less(a, b);'),
    ('plugins/cuda/head/head.cu', 'few ? args.from.collected : args.from.last', 'args.from.last'),
    ('plugins/cuda/head/head.cu', 'few ? *args.from.collected_count : *args.from.last_count', '*args.from.collected_count'),
    ('plugins/cuda/head/head.cu', 'Least ? is_less(other, one) : is_less(one, other)', 'is_less(other, one)'),
    ('plugins/cuda/head/head.cu', 'turned < shape.columns ? turned : turned - shape.columns', 'turned'),
    ('plugins/cuda/head/head.cu', 'turned >= turn ? turned - turn : turned + shape.columns - turn', 'turned'),
    ('plugins/cuda/head/head.cu', 'if (best->any && !less) return;', 'if (!less) return;'),
    ('plugins/cuda/head/head.cu', 'high_ties ? key.words[0] < best->key.words[0]', 'high_ties ? key.words[0] <= best->key.words[0]'),
    ('plugins/cuda/head/head.cu', ': key.words[1] < best->key.words[1];', ': key.words[1] <= best->key.words[1];'),
    ('plugins/cuda/head/head.cu', 'row + (BATCH - 1) < whole;', 'row + (BATCH - 1) <= whole;'),
    ('plugins/cuda/head/head.cu', 'if (at >= shape.count) continue;', ''),
    ('plugins/cuda/head/head.cu', 'if (!valid) args.from.facts->invalid = 1;', ''),
    ('plugins/cuda/head/head.cu', '*args.to.collected_count = 0;', ';'),
    ('plugins/cuda/head/head.cu', 'for (uint32_t i = 1; i < WIDE; i++)', 'for (uint32_t i = 2; i < WIDE; i++)'),
    ('plugins/cuda/head/head.cu', 'if (bit > 64 - DIGIT_BITS && word < 2) bits |=', 'if (false) bits |='),
    ('plugins/cuda/head/head.cu', 'if (bit > 64 - DIGIT_BITS && word < 2) one->', 'if (false) one->'),
    ('plugins/cuda/head/head.cu', 'range->below += before;', ''),
    ('plugins/cuda/head/head.cu', '<= SLACK * head;', '<= head * head;'),
    ('plugins/cuda/head/head.cu', 'keeps = keeps && !is_less(high, one);', 'keeps = keeps && is_less(one, high);'),
    ('plugins/cuda/head/head.cu', 'keep_pair(args, i, i < count && tops', 'keep_pair(args, i, tops'),
    ('plugins/cuda/head/head.cu', 'begin + threadIdx.x < count, high', 'true, high'),
    ('plugins/cuda/head/head.cu', 'if (i < count && word >= low && word <= high)', 'if (word >= low && word <= high)'),
    ('plugins/cuda/head/head.cu', 'if (i < count && word >= low && word <= high)', 'if (i < count && word >= low)'),
    ('plugins/cuda/head/head.cu', 'if (tops.fit && range.shift >= first) {', 'if (tops.fit) {'),
    ('plugins/cuda/head/head.cu', 'if (is_one) high = plan_max', 'high = plan_max'),
    ('plugins/cuda/head/head.cu', 'const bool taken = at < shape.count && !is_less(bound, one);', 'const bool taken = at < shape.count && is_less(one, bound);'),
    ('plugins/cuda/head/head.cu', 'takers & ((1u << lane) - 1)', 'takers & ((2u << lane) - 1)'),
    ('plugins/cuda/head/head.cu', '|| before >= args.head) return;', ') return;'),
    ('plugins/gpu/resident_records.c', 'if (job->head) job->count = s->order.count = job->head;', ';'),
    ('plugins/cuda/head/head.cu', 'work->collected = take(SLACK * head * shape.rows * WIDE);', 'work->collected = take(head);'),
    ('core/device.c', 'if (array->from == array->to && head)', 'if (false)'),
    ('core/device.c', 'if (job->offsets && head_of(job))', 'if (false)'),
    # runs that the device sorts and the host merges
    ('core/include/recsort/team.h', 'each + (piece < rest)', 'each'),
    ('plugins/gpu/in_runs.c', 'r < plan.runs;', 'r + 1 < plan.runs;'),
    ('plugins/gpu/in_runs.c', 'run < longer ? run : longer', 'longer'),
    ('plugins/gpu/in_runs.c', 'run.index_bits = RUN_INDEX_BITS;', ''),
    ('plugins/gpu/in_runs.c', '(job->count % runs != 0)', '0'),
    ('plugins/gpu/in_runs.c', 'if (bytes <= room) return true;',
     'if (bytes < room) return true;'),
    ('plugins/gpu/in_runs.c', '.bytes > self->device->first_room',
     '.bytes >= self->device->first_room'),
    ('plugins/gpu/in_runs.c', 'pairs.indices + begin', 'pairs.indices'),
    ('plugins/gpu/in_runs.c', 'merge + merge_size(job)};', 'merge};'),
    ('plugins/gpu/in_runs.c', 'merge_of(job, IN_RUNS_MOST)', 'merge_of(job, 2)'),
    ('plugins/gpu/in_runs.c', 'merge.indices = pairs.indices;', ''),
    ('plugins/gpu/in_runs.c', '.check = true', '.check = false'),
    ('plugins/gpu/in_runs.c', 'bytes = merge + merge_size(job);', 'bytes = merge;'),
    ('plugins/cuda/runtime.c', 'available / LEFT, device->memory_limit', 'available / LEFT, UINT64_MAX'),
    ('plugins/cuda/options.c', 'number > UINT64_MAX >> shift', 'false'),
    ('plugins/cuda/options.c', 'number == 0 ||', ''),
    ('plugins/cuda/runtime.c', '!current || number != device->number', '!current'),
    ('plugins/cuda/runtime.c', 'status || !active', 'status'),
    ('plugins/cuda/runtime.c', '(!current || current == device->context)', '!current'),
    ('plugins/cuda/runtime.c', '  device->context = current;\n  return', '  return'),
    ('plugins/cuda/runtime.c', 'if (device->retained) (void)', '(void)'),
    ('plugins/cuda/runtime.c', '(void)cuda_of(device)->contexts.pop(&ignored)', '(void)device, ignored = NULL, (void)ignored'),
    ('plugins/gpu/device_records.c', 'facts.strayed ?', 'facts.broken ?'),
    # merges of runs by the CUDA plugin
    ('plugins/gpu/merge_runs.c', '!self->merges ||', ''),
    ('plugins/gpu/merge_runs.c', '<= self->device->first_room;', '> 0;'),
    ('plugins/gpu/merge_runs.c', '(first - list->bounds[r]) * list', '0 * list'),
    ('plugins/gpu/merge_runs.c', 'job->in_place ? room : result', 'result'),
    ('plugins/gpu/merge_runs.c', 'if (status || !job->in_place) return status;', 'return status;'),
    ('plugins/gpu/merge_runs.c', 'return status ? status : device_records_judge(s, error);\n}\n\n/* ---- The merge',
     'return status;\n}\n\n/* ---- The merge'),
    ('plugins/gpu/pairs.c', 'if (status || !disorder || !*disorder)', 'if (true)'),
    # the sample sort
    # splitters moved as if all bins were equal
    ('plugins/cuda/sort/sample/agent/bucket_lookup.cuh', 'lookup->exponential_bits > 0',
     'false'),
    # one key taken for that of a bucket whose splitters' differ
    ('plugins/cuda/sort/sample/agent/bucket_lookup.cuh', 'i - (i > 0)',
     'i + (i < last)'),
    # the greater pairs to the left of a splitter
    ('plugins/cuda/sort/sample/agent/bucket_lookup.cuh', 'bound <= key',
     'bound >= key'),
    # the last key not looked at, when an order is detected
    ('plugins/cuda/sort/sample/agent/detect_order.cuh', 'i, last - 1);',
     'i, last - (last > 1 ? 2 : 1));'),
    # equal keys reversed
    ('plugins/cuda/sort/sample/agent/detect_order.cuh', 'behind[t] >= before[t]',
     'behind[t] > before[t]'),
    # keys kept that are less than one of a row before
    ('plugins/cuda/sort/sample/agent/drop_merge.cuh', 'least = *greatest;',
     'least = low;'),
    # and those of chunks whose bounds descend
    ('plugins/cuda/sort/sample/agent/drop_merge.cuh', 'low > high',
     'false'),
    # of equal keys the dropped one last, where many were dropped
    ('plugins/cuda/sort/sample/agent/drop_merge.cuh', 'dropped->indices[dropped->numbers[middle]] < index',
     'false'),
    # and where few were
    ('plugins/cuda/sort/sample/agent/drop_merge.cuh', 'index < i',
     'false'),
    # where the device decides: keys in order that are not copied, mixed ones that are said to be in
    # order, a drop-merge of too many, and nothing behind the dropped keys
    ('plugins/cuda/sort/sample/agent/detect_order.cuh', 'if (args.copied_keys)',
     'if (false)'),
    ('plugins/cuda/sort/sample/agent/detect_order.cuh', '*args->unchanged = found == KEYS_ASCEND;',
     '*args->unchanged = true;'),
    ('plugins/cuda/sort/sample/agent/drop_merge.cuh', ' && before + sum <= args.most', ''),
    ('plugins/cuda/sort/sample/agent/drop_merge.cuh', 'args.to.keys[i] = args.greatest;', ';'),
    ('plugins/cuda/sort/sample/dispatch/sample_sort.cu',
     'useful ? merge_dropped(innermost, &work) : mixed(innermost)',
     'merge_dropped(innermost, &work)'),
    ('plugins/cuda/sort/unchanged.cu', 'device_decide(args.decision, *args.found);',
     'device_decide(args.decision, 1);'),
    # pairs of a bin exchange their indices though their keys differ
    ('plugins/cuda/sort/sample/agent/overfull_bins.cuh', 'keys_equal(tile, pair, first)',
     'true'),
    # a bin of many keys taken for one of equal ones
    ('plugins/cuda/sort/sample/agent/overfull_bins.cuh', '!keys_equal(tile, sample_of_bin(tile, cut, old), pair)',
     'false'),
    # pairs for which an extent has no space left behind its end
    ('plugins/cuda/sort/sample/agent/partition.cuh', 'at >= by->search.counts[bucket]',
     'false'),
    # the greater of two packed pairs first
    ('plugins/cuda/sort/sample/agent/tile_bins.cuh', 'key < other.key;',
     'key > other.key;'),
    # of equal keys the later one first
    ('plugins/cuda/sort/sample/agent/tile_bins.cuh', 'shared->indices[i] < other.index',
     'shared->indices[i] > other.index'),
    # keys assumed to end in zeros
    ('plugins/cuda/sort/sample/block/bin_scale.cuh', 'head << scale->tail == key',
     'true'),
    # pairs whose tags tie left as they come, in a bin of many
    ('plugins/cuda/sort/sample/agent/tile_bins.cuh', 'not_greater - less == 1',
     'true'),
    # and in one of few
    ('plugins/cuda/sort/sample/block/bins.cuh', '(few[i] ^ few[i - 1]) >> TAG_NUMBER_BITS != 0',
     'true'),
    # of equal keys the later one first, in a run
    ('plugins/cuda/sort/sample/block/ranks.cuh', 'key <= other',
     'key < other'),
    # likewise, of neighbours
    ('plugins/cuda/sort/sample/block/ranks.cuh', 'at < first + r',
     'at > first + r'),
    # the first key of a fence's range in place of the last
    ('plugins/cuda/sort/sample/block/ranks.cuh', '& last) == last) runs',
     '& last) == 0) runs'),
    # likewise, among runs
    ('plugins/cuda/sort/sample/block/ranks.cuh', 'run < own',
     'run > own'),
    # pairs of one bucket in one place, where many lanes have it
    ('plugins/cuda/sort/sample/block/shares.cuh', 'device_popc(before)',
     '0'),
    # whole records on the device
    # a warp's hashes left out
    ('plugins/cuda/records/records.cu', 'w < RECORDS_WARPS; w++', 'w < RECORDS_WARPS - 1; w++'),
    # an invalid record not reported
    ('plugins/cuda/records/records.cu', 'if (!valid) args->facts->invalid = 1;', ';'),
    # half of a key not compared
    ('plugins/cuda/records/records.cu', '&& words[2 * i + 1] == key.words[1]', ''),
    # an index just out of range accepted
    ('plugins/cuda/records/records.cu', 'if (at >= args.count) {', 'if (at > args.count) {'),
    # an index that occurs twice accepted
    ('plugins/cuda/records/records.cu', 'if (before & bit) args.facts->broken = 1;', ';'),
    # the last pair not looked at
    ('plugins/cuda/records/records.cu', 'plan_min(first + t * blockDim.x, order->count - 1)',
     'plan_min(first + t * blockDim.x, order->count - 2)'),
    # reversed equal keys accepted
    ('plugins/cuda/records/records.cu', '(compared == 0 && is_turned(order, i))', '(compared == 0 && false)'),
    ('plugins/cuda/records/records.cu', 'tie = compared[t] == 0;', 'tie = false;'),
    ('plugins/cuda/records/records.cu', 'compare_keys(args.keys, args.key_width, i - 1, i) > 0', 'compare_keys(args.keys, args.key_width, i - 1, i) >= 0'),
    # the gather that does not check, or not its last pair
    ('plugins/cuda/records/records.cu', 'if (order->disorder && i > 0 && i < order->count &&', 'if (false &&'),
    ('plugins/cuda/records/records.cu', 'i > 0 && i < order->count && is_disordered', 'i > 0 && i + 1 < order->count && is_disordered'),
    # keys that are one word
    ('plugins/cuda/records/record_key.h', '|| !native || (step->bytes', '|| (step->bytes'),
    ('plugins/cuda/records/record_key.h', 'word.if_set = all ^ turn;', 'word.if_set = all;'),
    ('plugins/cuda/records/record_key.h', 'step->kind == RECSORT_KEY_UNSIGNED ? 0 : sign) ^ turn', 'step->kind == RECSORT_KEY_UNSIGNED ? 0 : sign)'),
    ('plugins/cuda/records/record_key.h', 'step->flags & RECSORT_KEY_NAN_FIRST ? 0 : all;\n  }', 'all;\n  }'),
    ('plugins/cuda/records/records.cu', 'if (t < each && i < args->count) store_key', 'if (i < args->count) store_key'),
    ('plugins/cuda/records/records.cu', '&& args->bounds[low] == i', ''),
    ('plugins/cuda/records/records.cu', 'args->bounds[middle] < i', 'args->bounds[middle] <= i'),
    # the first unit of a record for all
    ('plugins/cuda/records/record_units.h', '* each + unit;', '* each;'),
    # what is checked
    ('core/base/checked.h', 'y - x < a_size', 'y - x + 1 < a_size'),
    ('core/sorter.c', 'order->sorting == own->sorting', 'own->sorting'),
    ('core/check.c', 'compared == 0 && turned', 'compared > 0 && turned'),
    ('plugins/gpu/wide_keys.c', 'memcpy(order.at, next.at, order_bytes);', ';'),
    # the published sorts
    ('plugins/cuda/plan.h', 'count / each + (count % each != 0)', 'count / each'),
    ('plugins/cuda/plan.h', 'plan_min(begin + 2 * width, count)};', 'begin + 2 * width};'),
    ('plugins/cuda/runs.cuh', 'if (LEFT_GOES_FIRST(x, key_at(right, i)))', 'if (x < key_at(right, i))'),
    ('plugins/cuda/runs.cuh', 'if (LEFT_GOES_FIRST(key_at(left, i), x))', 'if (key_at(left, i) < x)'),
    ('plugins/cuda/runs.cuh', 'if (LEFT_GOES_FIRST(key_at(a, i), key_at(b, rank - i - 1)))',
     'if (key_at(a, i) < key_at(b, rank - i - 1))'),
    ('plugins/cuda/runs.cuh', 'i < a.count && LEFT_GOES_FIRST(key_at(a, i), key_at(b, j))',
     'i < a.count && key_at(a, i) < key_at(b, j)'),
    ('plugins/cuda/runs.cuh', '+ rank_in_left(key, left)', '+ rank_in_right(key, left)'),
    ('plugins/cuda/sort/published/rank.cu', ': rank_in_left(key, sibling)', ': rank_in_right(key, sibling)'),
    ('plugins/cuda/sort/published/rank.cu', 'threadIdx.x; i < end; i', 'threadIdx.x; i < begin + blockDim.x; i'),
    ('plugins/cuda/sort/published/corank_block.cuh', '(uint32_t)plan_blocks(tile, blockDim.x)', 'tile / blockDim.x'),
    ('plugins/cuda/sort/published/corank_tiled.cuh', 'co_rank_of(step, a, b)', 'co_rank_of(pass.tile, a, b)'),
    ('plugins/cuda/sort/published/corank_circular.cuh', 'slot >= ring.size ? slot - ring.size : slot', 'slot'),
    ('plugins/cuda/sort/published/corank_circular.cuh', 'ring_slot(*ring, held + i)', 'ring_slot(*ring, i)'),
    ('plugins/cuda/plan.h', '/ (2 * pair_bytes);', '/ pair_bytes;'),
    # the merge sort: ties, ends, places, digests
    ('plugins/cuda/merge/merge_tiles.cuh', 'LEFT_GOES_FIRST(key_at(a, i - 1), key_at(b, rank - i))',
     'key_at(a, i - 1) < key_at(b, rank - i)'),
    ('plugins/cuda/merge/merge_tiles.cuh', 'i <= high &&', 'i < high &&'),
    ('plugins/cuda/merge/merge_tiles.cuh', 'return LEFT_GOES_FIRST(parts.left(i), parts.right(j));',
     'return parts.left(i) < parts.right(j);'),
    ('plugins/cuda/merge/merge_tiles.cuh', 'return LEFT_GOES_FIRST(left, right);', 'return left < right;'),
    ('plugins/cuda/merge/merge_tiles.cuh', 'j >= count || (i < a_count &&', '(i < a_count &&'),
    ('plugins/cuda/merge/merge_tiles.cuh', 'tied = tied || left == right;', ';'),
    ('plugins/cuda/merge/merge_tiles.cuh', 'if (b[parts.a_count] < least) least', 'if (false) least'),
    ('plugins/cuda/merge/digest.cuh', 'used > bits ? used - bits : 0', '0'),
    ('plugins/cuda/merge/elements.cuh', 'if (form.digest.shift == 0) return true;', 'return true;'),
    ('plugins/cuda/merge/elements.cuh', 'if (even || odd)', 'if (even)'),
    ('plugins/cuda/merge/elements.cuh', 'if (done) return true;\n  }\n  return false;',
     'if (done) return true;\n  }\n  return true;'),
    ('plugins/cuda/merge/sort_chunks.cuh', 'if (is_left ? other < key : LEFT_GOES_FIRST(other, key))',
     'if (other < key)'),
    ('plugins/cuda/merge/sort_chunks.cuh', 'i < count ? form.of(keys.at(i), i) : NO_ELEMENT',
     'form.of(keys.at(i), i)'),
    ('plugins/cuda/merge/dispatch.cuh', 'width >= job->count - width', 'width > job->count - width'),
    ('plugins/cuda/merge/dispatch.cuh', 'plan_blocks(job->count % (2 * width), plan.tile)',
     'plan_blocks(job->count % width, plan.tile)'),
    ('plugins/cuda/merge/plan.h', '!sample_merges_pairs(job, plan_blocks(job->count, width))',
     '!sample_merges_pairs(job, job->count / width)'),
    ('plugins/cuda/sort/sample/dispatch/sample_merge.cu', 'plan_min(r * width, job->count)', 'r * width'),
    ('plugins/cuda/sort/sample/dispatch/merge_runs.cuh', 'source.pairs = pair_array_of_side<Pair>(buffers, side);',
     'source.pairs = pair_array_of_side<Pair>(buffers, 0);'),
    ('plugins/cuda/sort/sample/dispatch/merge_runs.cuh', 'buffers->extra, buffers, 1 - side)', 'buffers->extra, buffers, 1)'),
    # records in device memory
    ('core/device.c', 'array->from != array->to &&\n      rs_overlap', 'rs_overlap'),
    ('core/device.c', 'job->segment_count == 0 ||', ''),
    ('plugins/gpu/resident_records.c', 'if (from == array->to) {', 'if (from == array->to && size > 16) {'),
    ('plugins/gpu/resident_records.c', 'else if (s->buffers.words && overlap(', 'else if (0 && overlap('),
    ('plugins/gpu/resident_records.c', 'words->data = copy + ((const char *)words->data - (const char *)array->from);', ';'),
    ('plugins/gpu/resident_records.c', 'return offset < size && ', 'return '),
    ('plugins/gpu/resident_records.c', 'skills.moves && array && !job->head', 'skills.moves && array'),
    ('plugins/gpu/resident_records.c', 'if (array == s->moved) return true;', ';'),
    ('plugins/cuda/sort/sample/agent/small_ranks.cuh', 'if (record >= share->count) return;', ';'),
    ('plugins/cuda/sort/sample/dispatch/sort_small.cuh', 'if (how.alone) args.move = units;', 'args.move = units;'),
    ('plugins/cuda/key_words.h', 'i * words->stride', 'i * 4'),
    ('plugins/gpu/resident_records.c', 'facts->invalid = facts->overlong =', 'facts->overlong ='),
    ('plugins/gpu/resident_records.c', 'if (aligned % 4 || ', 'if ('),
    ('plugins/gpu/resident_records.c', 'others && alone && add_moved(s, true)', 'others && add_moved(s, true)'),
    ('plugins/gpu/resident_records.c', 'if (!moved || s->job->permutation)', 'if (s->job->permutation)'),
    ('plugins/gpu/resident_records.c', '&&\n        !is_moved(s, &s->job->arrays[a]))', ')'),
    ('plugins/cuda/records/record_units.h', '(uintptr_t)to | (uintptr_t)from | bytes', 'bytes'),
    ('plugins/cuda/records/records.cu', 'number > 0 && number <= segments->count', 'number > 0'),
    ('plugins/cuda/records/records.cu', 'place_code(&key, args->key_bits, number);', ''),
    ('plugins/cuda/segments/segment_tile.cuh', 'next == 0 || next > args.segments.count', 'next == 0'),
    ('plugins/cuda/segments/segment_tile.cuh', 'if (place == 0) return {0, 0};', ''),
    ('plugins/cuda/segments/segment_tile.cuh', 'inside = at >= mine.inner && at < mine.outer', 'inside = at < mine.outer'),
    ('plugins/cuda/segments/segment_tile.cuh', 'mine.count / WARP_SIZE == w ? 1u << mine.count % WARP_SIZE : 0', '0'),
    ('plugins/cuda/segments/segment_tile.cuh', 'mine.heads[w] & ~bits_up_to(i)', 'mine.heads[w] & ~(bits_up_to(i) >> 1)'),
    ('plugins/cuda/segments/segment_tile.cuh', 'keep(args, plan_max(begin, offset_at(segments, segments->count)), end);', ''),
    ('plugins/cuda/segments/segment_tile.cuh', 'store_index(args, i, i);', ';'),
    ('plugins/cuda/segments/segment_order.cuh', '<< 32 | i;', '<< 32;'),
    ('plugins/cuda/segments/segment_order.cuh', 'return a < b;', 'return false;'),
    ('plugins/cuda/segments/segment_order.cuh', 'if (alike >> lane == 1) *count', 'if (alike >> lane & 1) *count'),
    ('plugins/cuda/segments/segment_order.cuh', 'i >= mine.count && w < mine.words', 'i > mine.count && w < mine.words'),
    ('plugins/cuda/segments/segment_order.cuh', '(last + 1) >> shift', 'last >> shift'),
    ('plugins/cuda/segments/segment_order.cuh', 'if (varied >> shift & (DIGITS - 1))', 'if (varied >> shift & 1)'),
    ('plugins/cuda/segments/measured_segments.cu', 'args.limits[number] < found', 'args.limits[number] + 1 < found'),
    ('plugins/cuda/segments/measured_segments.cu', '  *args.longest = 0;\n', ''),
    ('plugins/cuda/segments/measured_segments.cu', '  *args.ended = 0;\n', ''),
    ('plugins/cuda/segments/measured_segments.cu', '(uint32_t)plan_min(most, UINT32_MAX)', '(uint32_t)most'),
    ('plugins/cuda/segments/measured_segments.cu', 'inner.branches[0] = NULL;', ''),
    ('plugins/cuda/segments/segments.cu', 'longest == 0 || longest > UINT32_MAX', 'longest == 0'),
    ('plugins/cuda/segments/segments.cu', 'if (count > args.tile) {', 'if (count > 2 * (uint64_t)args.tile) {'),
    ('plugins/cuda/segments/segments.cu', 'RANK_TILE - (uint32_t)longest + 1', 'RANK_TILE'),
    ('plugins/cuda/segments/segments.cu', '(tile - longest + 1)', '(tile)'),
    ('plugins/cuda/segments/segments.cu', 'least = own ? longest : 2 * longest', 'least = longest'),
    ('plugins/cuda/segments/segments.cu', 'first = mine.several && is_head(mine, i)', 'first = false'),
    ('plugins/cuda/segments/segments.cu', 'if (wrong) device_poke32(args.disorder, 1);', ''),
    ('plugins/cuda/segments/segments.cu', 'segments.count + plan_blocks(job->count, plan.tile)', 'segments.count'),
    ('plugins/cuda/segments/segments.cu', 'if (several) mark_heads(args, mine);', ''),
    ('plugins/cuda/segments/segments.h', 'low += (more - 1) * step + 1;', 'low += more * step;'),
    # splitters and parts
    ('core/partition.c', 'm->shard.first + i, PLACE', 'i, PLACE'),
    ('core/partition.c', 'put_big(mark, m->shard.rank, RANK_BYTES)', 'put_big(mark, 0, RANK_BYTES)'),
    ('core/partition.c', 'if (memcmp(mark, splitter, m->mark_size) < 0)', 'if (memcmp(mark, splitter, m->mark_size) <= 0)'),
    ('core/partition.c', 'p->m.mark_size) <= 0)', 'p->m.mark_size) < 0)'),
    ('core/partition.c', 'i + 1, splitter_count + 1).begin', 'i, splitter_count + 1).begin'),
    ('core/partition.c', 'part %= 2 * wanted;', 'part %= wanted;'),
    ('core/partition.c', 'while (i < known &&', 'while (i > known &&'),
    ('tools/mpi/refine.c', 's->target - s->low <= r->tolerance', 's->target - s->low <= r->tolerance + 1'),
    ('tools/mpi/refine.c', 's->low_cut = s->high_cut;', ''),
    ('tools/mpi/refine.c', 'between.first += s->low_cut;', ''),
    ('tools/mpi/refine.c', '*cuts++ = s->low_cut + own[k];', '*cuts++ = own[k];'),
    ('tools/mpi/refine.c', 'memcpy(bounds_of(r, i), samples + k * r->mark_size, r->mark_size);', ''),
    ('tools/mpi/sort.c', 'if (first == INT_MAX) return true;', 'return true;'),
    ('tools/mpi/sort.c', 'if (!alike)', 'if (0)'),
    ('tools/mpi/sort.c', 'keeps ? j->counts[i] : share + (i < rest)', 'keeps ? j->counts[i] : share'),
    ('tools/mpi/sort.c', 'm->cuts[count] = j->status != RECSORT_OK;', 'm->cuts[count] = 0;'),
    ('tools/mpi/sort.c', '  MPI_Wait(request, MPI_STATUS_IGNORE);', ''),
    ('tools/mpi/sort.c', 'if (j->new_count != j->count) {', 'if (j->new_count > j->count) {'),
    ('tools/mpi/sort.c', 'give_back(&j, j.received, j.new_count * j.record_size);', ''),
    # pairs in device memory
    ('core/device_pairs.c', "areas[a].at == areas[b].at && b != WORKSPACE && a / 2 == b / 2", "areas[a].at == areas[b].at && b != WORKSPACE"),
    ('core/device_pairs.c', '(!areas[a].written && !areas[b].written) ||', ''),
    ('core/device_pairs.c', 'own.begin_bit >= end', 'own.begin_bit > end'),
    ('core/device_pairs.c', '"workspace", workspace, bytes, WORKSPACE_ALIGNMENT, true', '"workspace", workspace, bytes, 8, true'),
    ('plugins/gpu/resident_pairs.c', 'keys_in_place(job) && device_pairs_reads_keys(job)', 'keys_in_place(job) && job->kind == RECSORT_KEY_FLOAT'),
    ('plugins/gpu/resident_pairs.c', 'const bool fits = bytes <= room->side_bytes;', 'const bool fits = true;'),
    ('plugins/gpu/resident_pairs.c', 's->side ? s->buffers.keys[0] : s->buffers.indices[1]', 's->side ? s->buffers.indices[1] : s->buffers.keys[0]'),
    ('plugins/gpu/resident_pairs.c', 'if (keys_in_place(&s->job) && values_in_place(&s->job)) s->pairs', 's->pairs'),
    ('plugins/gpu/resident_pairs.c', 'if (needed > bytes) {', 'if (needed > bytes && 0) {'),
    ('plugins/gpu/pairs.c', 'if (found > *most) *most = found;', '*most = found;'),
    # shards on several devices
    ('plugins/gpu/shard_cuts.c', 'if (low) range->low', 'if (low > 1) range->low'),
    ('plugins/gpu/shard_cuts.c', 'rank -= taken;', ';'),
    ('plugins/gpu/shard_cuts.c', 'in_ranges(shards, cut) > 1;', 'in_ranges(shards, cut) > 2;'),
    ('plugins/cuda/merge/shards.cu', 'digit |= key[word + 1] << (64 - below);', ';'),
    ('plugins/gpu/shards.c', 'shards->bounds[p + 1] = shards->bounds[p] + count;', 'shards->bounds[p + 1] = count;'),
    ('plugins/gpu/shards.c', '(char *)piece.to + at * size', '(char *)piece.to'),
    ('plugins/gpu/shards.c', 'sorted.keys + piece.first * key,', 'sorted.keys,'),
    ('plugins/gpu/shards.c', 'return shards->count > 2 || (shards->count == 2', 'return shards->count > 1 || (shards->count == 2'),
    ('plugins/gpu/shards.c', 'return shards->count > 2 || (shards->count == 2', 'return shards->count > 3 || (shards->count == 2'),
    ('plugins/gpu/shards.c', 'merge.reads_keys = merge.piece_count > 1;', 'merge.reads_keys = true;'),
    ('plugins/gpu/shards.c', '&merge.words))\n    merge.reads_keys = false;', '&merge.words))\n    merge.reads_keys = merge.piece_count > 1;'),
    ('plugins/cuda/records/records.cu', '8 * own.word.bytes == own.key_width', 'own.word.bytes == 4'),
    ('plugins/gpu/shards.c', 'memory + place * key_bytes(s->program)', 'memory'),
    ('plugins/cuda/records/records.cu', 'piece->keys_to, first + threadIdx.x);', 'piece->keys_to, threadIdx.x);'),
    ('plugins/gpu/shards.c', 'status || waiting < RECORDS_MOST_PIECES', 'true'),
    ('plugins/gpu/shards.c', 'runtime_wait(shard->stream, error)', 'RECSORT_PLUGIN_OK'),
    ('plugins/gpu/shards.c', 'if (s->job->found_invalid || high', 'if (high'),
    ('plugins/gpu/whole_records.c', 'if (self->device_count > 1) status', 'if (self->device_count > 9) status'),
    ('plugins/gpu/over_devices.c', 'status = runtime_release(self->device, error);', 'status = RECSORT_PLUGIN_OK;'),
    ('plugins/gpu/over_devices.c', '+ (s < count % devices)', ''),
    ('plugins/gpu/over_devices.c', 'shards->lanes[0].most >= share', 'shards->lanes[0].most + share > 0'),
    ('plugins/gpu/over_devices.c', 'before < s; before++)', 'before < s && s > 1; before++)'),
    ('plugins/gpu/over_devices.c', 'if (status) gpu_close_shards(self);', ';'),
    ('plugins/cuda/options.c', 'if (count == CUDA_MOST_DEVICES || !parse', 'if (!parse'),
    ('plugins/gpu/shards.c', 'if (!*shards->lanes[number]', 'if (true || !*shards->lanes[number]'),
    ('plugins/cuda/merge/move_tiles.cu', 'if (!good) device_poke32(args.disorder, 1);', ';'),
    ('plugins/cuda/merge/move_tiles.cu', '*good &= all == low;', ';'),
    ('plugins/cuda/merge/move_tiles.cu', 'digest.shift == 0, numbers)', 'true, numbers)'),
    ('plugins/cuda/merge/move_tiles.cu', '  return one < next;', '  return true;'),
    ('plugins/cuda/merge/move_tiles.cu', 'return word_code_64(&how, word);', 'return word;'),
    ('plugins/cuda/merge/move_tiles.cu', 'if (threadIdx.x == 0) cuts->right = b;', 'if (threadIdx.x == 0) cuts->right = b + a_count;'),
    ('plugins/cuda/merge/move_tiles.cu', 'left_last < right_last ? right_last : left_last', 'left_last'),
    ('plugins/cuda/merge/move_tiles.cu', 'threadIdx.x + k * blockDim.x, parts.count - 1)', 'threadIdx.x + k * blockDim.x, parts.count - 2)'),
    ('plugins/cuda/runtime.c', '&& can && (!code', '&& (!code'),
    ('core/shards.c', '(s < all % sorter->count)', '(s == 0)'),
    ('core/shards.c', 'bytes_of(sorter, before), shard->records', '0, shard->records'),
    ('plugins/cuda/records/device_pairs.cu', 'code != zero &&', ''),
    ('plugins/cuda/records/device_pairs.cu', 'job.flags & RECSORT_KEY_NAN_FIRST ? 0 : all_of<Key>', 'all_of<Key>'),
    ('plugins/cuda/records/device_pairs.cu', 'whole && tells_key', 'tells_key'),
    ('plugins/cuda/records/device_pairs.cu', '<< job.first_bit | rest;', '<< job.first_bit;'),
    ('plugins/gpu/resident_pairs.c', 's->buffers.input = s->job.keys_in;', ';'),
    ('plugins/cuda/runtime.c', 'code == cudaSuccess || forbidden;', 'code == cudaSuccess || (forbidden && 0);'),
    ('plugins/gpu/resident_pairs.c', '(uintptr_t)job->keys_in % DEVICE_INPUT_ALIGNMENT == 0 &&', ''),
    ('plugins/cuda/records/device_pairs.cu', 'if (pair_number(first, t) < count) ((Element', '((Element'),
    ('plugins/cuda/records/device_pairs.cu', '(code ^ like) & ~mask) != 0', '(code ^ like) & ~mask) > 99'),
    ('plugins/cuda/records/device_pairs.cu', 'first += gridDim.x * each', 'first += count'),
    ('plugins/gpu/resident_pairs.c', 'job->kind == RECSORT_KEY_UNSIGNED && !', 'job->kind == RECSORT_KEY_UNSIGNED || !'),
    ('plugins/cuda/records/device_pairs.cu', 'codes_before[t] > codes[t] ||', ''),
    ('plugins/cuda/records/device_pairs.cu', 'if (sorted.index_bits == 64) {', 'if (false) {'),
    # computed keys
    ('core/include/recsort/computed_key.h', 'if (bytes == 8) return key_double(raw);', ''),
    ('core/include/recsort/computed_key.h', 'key_double((offset + 1 - fraction) << 52)', 'key_double((offset - fraction) << 52)'),
    ('core/include/recsort/computed_key.h', 'if (!(place >= 1)) return 0;', ''),
    ('core/include/recsort/computed_key.h', 'place < (double)last ? (uint64_t)(int64_t)place : last', '(uint64_t)(int64_t)place'),
    ('core/include/recsort/computed_key.h', 'key_spread_by_2(cells[0]) << 1 |', 'key_spread_by_2(cells[0]) |'),
    ('core/include/recsort/computed_key.h', 'UINT64_C(0x100f00f00f00f00f)', 'UINT64_C(0x000f00f00f00f00f)'),
    ('core/include/recsort/computed_key.h', '& below & ~inverted;', '& below;'),
    ('core/include/recsort/computed_key.h', 'cells[i] ^= cells[i - lanes];', ';'),
    ('core/include/recsort/computed_key.h', 'cells[c * lanes + j] ^= flips;', ';'),
    ('core/include/recsort/computed_key.h', 'RECSORT_KEY_DESCENDING ? key_mask(step->width) ^ code : code', 'RECSORT_KEY_DESCENDING ? code : code'),
    ('core/include/recsort/computed_key.h', 'RECSORT_KEY_NAN_FIRST ? 0 : key_mask(step->width)', 'RECSORT_KEY_NAN_FIRST ? 0 : 0'),
    ('core/include/recsort/key_interpreter.h', 'if (step->kind == RECSORT_KEY_OPERAND) return 0;\n  if (step->kind >= RECSORT_KEY_DISTANCE) return key_computed(', 'if (step->kind >= RECSORT_KEY_DISTANCE) return key_computed('),
    ('core/include/recsort/key_interpreter.h', 'if (step->kind == RECSORT_KEY_OPERAND) return 0;\n  if (step->kind >= RECSORT_KEY_DISTANCE) return key_computed_in(', 'if (step->kind >= RECSORT_KEY_DISTANCE) return key_computed_in('),
    ('core/key/encode.c', 'nan[j] |= number != number;', ''),
    ('core/key/encode.c', 'sums[j] = sums[j] + key_product(difference, difference);', 'sums[j] = key_product(difference, difference);'),
    ('core/key/encode.c', 'program->step_count == 1u + first->bit', 'true'),
    ('core/plan/plan.c', 'if (steps[i].kind == RECSORT_KEY_OPERAND) continue;', ''),
    ('core/plan/plan.c', 'type->size > sizeof(float)', 'type->size > sizeof(double)'),
    ('core/plan/plan.c', 'if (!plan->parameters[i].is_set)', 'if (false)'),
    ('core/plan/plan.c', 'if (each->count != count)', 'if (false)'),
    ('core/plan/plan.c', 'if (!isfinite(values[v]))', 'if (false)'),
    ('core/layout/computed.c', 'if (!(greatest > least))', 'if (false)'),
    ('core/layout/computed.c', 'why = "a field has that name";', ';'),
    ('core/merge.c', 'if (status == RECSORT_OK) status = rs_plan_check_parameters(&sorter->plan, error);', ''),
    ('plugins/cuda/records/record_key.h', 'computed ? key_step_in(step, column, i, code, valid)', 'false ? 0'),
    # columns
    ('core/key/encode.c', 'key_at(column, range->first + range->begin)', 'key_at(column, range->begin)'),
    ('core/key/encode.c', 'columns, range->first + i, 0, &valid', 'columns, i, 0, &valid'),
    ('core/key/encode.c', 'program->step_count == 1 && !program->columns', 'program->step_count == 1'),
    ('core/include/recsort/key_interpreter.h', 'key_at(&columns[c], i)', 'key_at(&columns[1], i)'),
    ('core/plan/columns.c', 'step->offset - field->offset)), stride', '0)), stride'),
    ('core/plan/columns.c', 'if (!reads(step) || plan->places[s].stride) continue;', 'continue;'),
    ('core/plan/columns.c', 'extent->size = bitfield ? 0 : ', 'extent->size = '),
    ('core/plan/columns.c', '* (field->count ? field->count : 1)', '* 1'),
    ('core/plan/columns.c', 'column->stride && column->stride < field->size', 'false'),
    ('core/plan/columns.c', 'if (!column->data && count)', 'if (false)'),
    ('core/plan/columns.c', 'memset(plan->places, 0,', 'memset(plan->places, 1,'),
    ('core/plan/columns.c', '(count - 1) * place->stride + plan->program.steps[s].bytes', '(count - 1) * place->stride'),
    ('core/plan/columns.c', 'if (rs_overlap(place->data, (size_t)bytes, memory, size)) return true;', ''),
    ('core/window.c', 'first + i), error)', 'first), error)'),
    ('plugins/cuda/records/record_key.h', 's < own.step_count && records;', 's < own.step_count;'),
    ('plugins/gpu/records.h', 'if (program->columns)\n    memcpy(own.columns', 'if (false)\n    memcpy(own.columns'),
    ('core/device.c', 'if (job->columns && (job->records || job->sorted))', 'if (job->columns && job->records)'),
    # a sort that starts from the order that the last one found
    ('plugins/cuda/records/kept_order.cu', 'if (slot == MOST_CAME) lose(args, block->found);', ''),
    ('plugins/cuda/records/kept_order.cu', 'if (slot == MOST_CAME) lose(args, block->found);', 'if (slot + 1 == MOST_CAME) lose(args, block->found);'),
    ('plugins/cuda/records/kept_order.cu', 'return block->in_order && stayed == all && stragglers == 0;', 'return stayed == all && stragglers == 0;'),
    ('plugins/cuda/records/kept_order.cu', 'return block->in_order && stayed == all && stragglers == 0;', 'return block->in_order && stragglers == 0;'),
    ('plugins/cuda/records/kept_order.cu', 'return block->in_order && stayed == all && stragglers == 0;', 'return block->in_order && stayed == all;'),
    ('plugins/cuda/records/kept_order.cu', 'if (stayed & DESCENDS) sort_tile(tile, count);', ''),
    ('plugins/cuda/records/kept_order.cu', 'sort_tile(&arrivals, came);', ''),
    ('plugins/cuda/records/kept_order.cu', 'if (place % CHUNK == 0) pair_put', 'if (false) pair_put'),
    ('plugins/cuda/records/kept_order.cu', 'if (i % CHUNK == 0) pair_put', 'if (false) pair_put'),
    ('plugins/cuda/records/kept_order.cu', 'next->came[number] = 0;', ''),
    ('plugins/cuda/records/kept_order.cu', 'if (number % GROUP == 0) next->groups[number / GROUP * APART] = 0;', ''),
    ('plugins/cuda/records/kept_order.cu', 'device_poke32(&kept->found[!turn].lost, 0);', ''),
    ('plugins/cuda/records/kept_order.cu', 'device_poke32(&kept->found[!turn].moved, 0);', ''),
    ('plugins/cuda/records/kept_order.cu', 'kept->lost = found.lost;', 'kept->lost = 0;'),
    ('plugins/cuda/records/kept_order.cu', 'kept->still = found.lost | !found.moved;', 'kept->still = !found.moved;'),
    ('plugins/cuda/records/kept_order.cu', 'args->sorted, !turn, ', 'args->sorted, turn, '),
    ('plugins/cuda/records/kept_order.cu', 'is_known = last.count == args.count', 'is_known = last.count'),
    ('plugins/cuda/records/kept_order.cu', 'last.sorted == args.array', 'true'),
    ('plugins/cuda/records/kept_order.cu', 'last.sorted == args.array', 'false'),
    ('plugins/cuda/records/kept_order.cu', 'if (block->copies)\n    copy_range', 'if (false)\n    copy_range'),
    ('plugins/cuda/records/kept_order.cu', 'if (!block.copies) device_poke32(&kept->copied, 0);', ''),
    ('plugins/cuda/records/kept_order.cu', 'if (is_first && !is_known) lose(&args, found);', ''),
    ('plugins/cuda/records/kept_order.cu', 'if (found.lost || (!found.moved', 'if ((!found.moved'),
    ('plugins/cuda/records/kept_order.cu', '!moves && !args.order[0] && !args.order[1]', '!moves'),
    ('plugins/cuda/records/kept_order.cu', '(found.moved || !args.in_place)', 'found.moved'),
    ('plugins/cuda/records/kept_order.cu', 'i + rank_in(&arrivals, i < count ? came : 0, rows->pairs[r])', 'i'),
    ('plugins/cuda/records/kept_order.cu', 't + rank_in(tile, t < came ? count : 0, rows->pairs[ROWS])', 't'),
    ('plugins/cuda/records/kept_order.cu', '(args->memory.stayed[c] & ~DESCENDS) + counts->came[c]', '(args->memory.stayed[c] & ~DESCENDS)'),
    ('plugins/cuda/records/kept_order.cu', '(void)device_add32(&block->counts.groups[number / GROUP * APART], 1);', ''),
    ('plugins/cuda/records/kept_order.cu', 't ^ (run - 1)', 't ^ apart'),
    ('plugins/cuda/records/kept_order.cu', 'if (in_order) fence.index', 'if (false && in_order) fence.index'),
    ('plugins/cuda/records/kept_order.cu', 'if (in_order) fence.index', 'if (true || in_order) fence.index'),
    ('plugins/cuda/records/kept_order.cu', 'before = number + 1 == args->chunks', 'before = number == args->chunks'),
    ('plugins/cuda/records/kept_order.cu', 'after = number == 0', 'after = number + 1 == 0'),
    ('plugins/cuda/records/kept_order.cu', 'CHUNK - 1 - (i - at)', 'CHUNK - 1 - i'),
    ('plugins/cuda/records/kept_order.cu', '(Key)key.words[1] << 64', '(Key)key.words[0] << 64'),
    ('plugins/cuda/records/kept_order.cu', 'if (!valid) args->source.facts->invalid = 1;', ';'),
    ('plugins/cuda/records/kept_order.cu', 'pair_get(&tile, CHUNK - 1 - threadIdx.x)', 'pair_get(&tile, CHUNK - 2 - threadIdx.x)'),
    ('plugins/cuda/records/kept_order.cu', 'kept->wants_order || kept->sorted != kept->array', 'kept->sorted != kept->array'),
    ('plugins/cuda/records/kept_order.cu', 'kept->wants_order || kept->sorted != kept->array', 'kept->wants_order'),
    ('plugins/cuda/records/kept_order.cu', 'if (i > 0 && !pair_less', 'if (false && !pair_less'),
    ('plugins/cuda/records/records.cu', 'if (order->count < 2 || (order->skip && *order->skip)) return;', 'if (order->count < 2) return;'),
    ('plugins/cuda/records/records.cu', 'if (args.skip && *args.skip) return;', ''),
    ('plugins/cuda/records/records.cu', 'if (order->skip && *order->skip) return;', ''),
    ('plugins/cuda/records/record_units.h', 'copied[t], bytes);', 'copied[0], bytes);'),
    ('plugins/gpu/resident_records.c', 's->status = start_with_skills(&own);', 's->status = RECSORT_PLUGIN_OK;'),
    ('plugins/gpu/resident_records.c', 'kept->wants_order = s->job->array_count > (s->moved ? 1 : 0);', ''),
    ('plugins/gpu/resident_records.c', 'order->pairs = own.order;', ';'),
    ('plugins/gpu/resident_records.c', '(void)start_in_place(&own, inner->stream);', ';'),
    ('plugins/gpu/resident_records.c', 'self->resident.kept_bytes && !s->job->offsets && !s->job->head', '!s->job->offsets && !s->job->head'),
    ('core/device.c', 'if (limits->keep_order > 1)', 'if (false)'),
    ('core/device.c', 'if (limits->keep_order && limits->index_bits != 32)', 'if (false)'),
    # a point in the device's memory
    ('core/include/recsort/computed_key.h', 'if (operand->flags & RECSORT_KEY_POINT_AT)', 'if (false)'),
    ('core/plan/plan.c', '(operand->flags & ~RECSORT_KEY_POINT_AT)', '(operand->flags)'),
    ('core/plan/plan.c', '(uintptr_t)(values + v)', '(uintptr_t)values'),
    ('core/plan/plan.c', 'if ((uintptr_t)values % sizeof *values)', 'if (false)'),
    ('plugins/cuda/records/record_key.h', 'bit ? code >> (64 - bit) : 0', '0'),
    ('plugins/cuda/records/record_key.h', 'low ? above : here', 'low ? 0 : here'),
    # merges of runs on the device
    ('plugins/cuda/sort/sample/merge_plan.h', 'if (runs > FEW_RUNS) return', 'if (runs >= FEW_RUNS) return'),
    ('plugins/cuda/sort/sample/merge_plan.h', 'return !packed || job->count >= least / 2;', 'return job->count >= least / 2;'),
    ('plugins/cuda/sort/sample/merge_plan.h', 'job->count >= least / 2', 'job->count >= least'),
    ('plugins/cuda/merge/merge_tiles.cuh', '(index_of<Pair>)(part(i).first + i)', '(index_of<Pair>)i'),
    ('plugins/cuda/merge/merge_tiles.cuh', 'plan_min(first + args.span, args.count)};',
     'plan_min(first + 2 * args.width, args.count)};'),
    ('plugins/cuda/merge/merge_runs.cu', 'if (count <= 2)', 'if (count <= 3)'),
    ('plugins/cuda/sort/sample/merge_plan.h', '(plan.tile >> plan.step_bits) - runs', 'plan.tile >> plan.step_bits'),
    ('plugins/cuda/sort/sample/merge_plan.h', 'plan_blocks(samples, plan->samples)', 'plan_blocks(samples, 2 * plan->samples)'),
    ('plugins/cuda/sort/sample/merge_plan.h', 'runs->bounds[run] + ((i + 1) << runs->shift) - 1',
     'runs->bounds[run] + ((i + 1) << runs->shift) - (i > 0)'),
    ('plugins/cuda/sort/sample/agent/merge_pieces.cuh', '(tile + 1) * samples->each - 1', 'tile * samples->each'),
    ('plugins/cuda/sort/sample/agent/merge_pieces.cuh', 'args.cuts[tile * args.runs.count + run] = low;',
     'args.cuts[tile * args.runs.count + run] = low - (low > 0);'),
    ('plugins/cuda/sort/sample/agent/merge_pieces.cuh', 'run, begin - before)', 'run, begin)'),
    ('plugins/cuda/sort/sample/agent/merge_pieces.cuh', 'while (i >= end)', 'if (i >= end)'),
    ('plugins/cuda/sort/sample/agent/merge_pieces.cuh', 'sum += pieces.sums[warp];', 'sum = pieces.sums[warp];'),
    ('plugins/cuda/sort/sample/agent/merge_pieces.cuh', 'known ? tile.tags : tile.bins', 'tile.bins'),
    ('plugins/cuda/sort/sample/agent/merge_pieces.cuh', 'blockIdx.x > 0 && blockIdx.x + 1 < gridDim.x;', 'blockIdx.x > 0;'),
    ('plugins/cuda/sort/sample/dispatch/merge_runs.cuh', 'm->samples[(level + 1) % 2]', 'm->samples[1]'),
    ('plugins/cuda/sort/sample/dispatch/merge_runs.cuh', 'sample_runs_length(runs) > plan->tile', 'sample_runs_length(runs) > 2 * plan->tile'),
    # keys wider than a pair
    ('plugins/cpu/merge.c', 'return (tied){run.begin, run.count, window.low};',
     'return (tied){run.begin, run.count, 0};'),
    ('plugins/cpu/merge.c', 'part = longest.count > 1 ? sort_tied(job, sorted, other, longest) : longest;',
     'part.low = 0;'),
    ('plugins/cpu/merge.c', 'if (part.low > 0) part = sort_tied(job, sorted, other, part);', ''),
    ('plugins/cpu/merge.c', 'if (run.count > longest.count) {\n        const', 'if (run.count > 1) {\n        const'),
    ('plugins/cpu/merge.c', '|| job->key_width > 64', ''),
    ('plugins/cpu/merge.c', 'if (bit + width > 64) bits |=', 'if (bit + width > 65) bits |='),
    ('plugins/cpu/merge.c', 'sorted[i] = prefix | (sorted[i] & index_mask);',
     ';'),
    # threads
    ('core/base/pool.c', 'if (!(atomic_fetch_and(&job->open[word], ~bit) & bit)) continue;',
     '(void)atomic_fetch_and(&job->open[word], ~bit);'),
    ('core/base/pool.c', 'return (stripes + WORD_BITS - 1) / WORD_BITS;', 'return stripes / WORD_BITS + (stripes < WORD_BITS);'),
    ('core/base/pool.c', 'number += MOST_THREADS', 'number += job->count'),
    ('core/base/pool.c', 'if (worker < end && is_open(job)) return job;', 'if (worker < end && worker >= before + 2 && is_open(job)) return job;'),
    ('core/base/pool.c', 'if (find_job(worker, &stripe) || atomic_load(&pool.stopped)) break;', 'if (atomic_load(&pool.stopped)) break;'),
    ('core/base/pool.c', 'if (!atomic_load(&pool.asleep[w]) ||', 'if (w > 1 || !atomic_load(&pool.asleep[w]) ||'),
    ('core/base/pool.c', 'wait_for(job, stripes - mine);', 'wait_for(job, stripes - mine - (mine < stripes));'),
    ('core/base/pool.c', 'if (is_open(job)) wake_workers();', 'return false;'),
    ('core/base/pool.c', '  wake_workers();\n  for (;', '  for (;'),
    ('core/base/pool.c', 'rs_condition_broadcast(&pool.finished);', ''),
    ('core/base/pool.c', 'rs_thread_prepare(before_fork, after_fork_in_parent, after_fork_in_child)', 'true'),
    ('core/base/pool.c', 'atomic_store(&pool.slots[s].taken, false);\n  }', '}'),
    ('core/base/pool.c', 'atomic_store(&pool.workers, 0);', ''),
    ('core/base/pool.c', 'rs_thread_join(&pool.threads[i]);', ';'),
    ('core/base/platform/posix/threads.c', '(void)pthread_sigmask(SIG_SETMASK, &all, &before);', '(void)pthread_sigmask(0, NULL, &before);'),
    ('core/base/pool.c', 'count > 1 ? take_slot() : NULL', 'count > 1 ? &pool.slots[0] : NULL'),
    ('core/base/pool.c', 'if (threads == 0) threads = executor->threads ?', 'if (threads == 0) threads = false ?'),
    ('core/include/recsort/team.h', 'pieces < t.threads ? pieces : t.threads', 'pieces'),
    ('core/include/recsort/team.h', 'memory_order_relaxed)) < share->end)\n', 'memory_order_relaxed)) <= share->end)\n'),
    # codes
    ('core/include/recsort/key_interpreter.h', 'return descending ? all ^ code : code;', 'return code;'),
    ('core/include/recsort/key_interpreter.h', '(raw & ~sign) > limit', '(raw & ~sign) >= infinity'),
    ('core/include/recsort/key_interpreter.h', 'if ((raw & ~sign) == 0) raw = 0;', ''),
    ('core/include/recsort/key_interpreter.h', 'RECSORT_KEY_NAN_FIRST ? 0 : all;',
     'RECSORT_KEY_NAN_FIRST ? all : 0;'),
    ('core/include/recsort/key_interpreter.h', 'raw == (all >> 1) + 1 ? all : raw', 'raw == (all >> 1) + 1 ? raw : raw'),
    ('core/include/recsort/key_interpreter.h', 'raw = raw << step->bit & all;', 'raw = raw << step->bit;'),
    ('core/include/recsort/key_interpreter.h', 'ended |= ended >> 32;', ''),
    ('core/include/recsort/key_interpreter.h', 'rank -= number > step[i].bias;', 'rank -= number < step[i].bias;'),
    ('core/include/recsort/key_interpreter.h', '(descending ? all ^ rank : rank) + first - descending', '(descending ? all ^ rank : rank) + first'),
    ('core/include/recsort/key_interpreter.h', 'step->bit && ((before ^ turn) & 255) == 0', 'step->bit && (before & 255) == 0'),
    ('core/plan/plan.c', '.bit = text && part > 0,', '.bit = 0,'),
    ('core/plan/plan.c', 'nan == RECSORT_NAN_TOTAL ? 0 : field->null_count', 'field->null_count'),
    ('core/plan/plan.c', 'step->bit = apart;', 'step->bit = 0;'),
    ('core/layout/layout.c', 'is_signed ? by_value : by_unsigned_value', 'by_value'),
    ('core/include/recsort/key_interpreter.h', 'if (code > step->limit)', 'if (code > step->limit + 1)'),
    ('core/include/recsort/key_interpreter.h', 'code = raw != 0;', 'code = raw & 1;'),
    ('core/include/recsort/key_interpreter.h', '? all ^ (code & all) : code & all;', '? code & all : code & all;'),
    ('core/include/recsort/key_interpreter.h',
     'if (bit + step->width > 64) words[word + 1] |= code >> (64 - bit);', ''),
    ('core/include/recsort/key_interpreter.h', 'return (raw & ~(all << step->bit)) | code << step->bit;',
     'return code << step->bit;'),
    ('core/key/encode.c', 's = 0; s < program->step_count; s++) {\n      const recsort_key_step *const step', 's = 1; s < program->step_count; s++) {\n      const recsort_key_step *const step'),
    ('core/key/encode.c', 'return x[w] < y[w] ? -1 : 1;', 'return x[w] < y[w] ? 1 : -1;'),
    ('core/key/encode.c', 'first + range.begin, plan->keys', 'range.begin, plan->keys'),
    ('core/key/encode.c', 'step.bit = 0;\n  if', 'step.bit = 0;\n  step.flags = 0;\n  if'),
    ('core/key/encode.c', 'step.bit = 0;\n  return', 'step.bit = 0;\n  step.flags = 0;\n  return'),
    # plans
    ('core/base/types.c', 'FLOAT("bfloat16", 2, 8, 7, 16, 127, IEEE)', 'FLOAT("bfloat16", 2, 5, 10, 16, 15, IEEE)'),
    ('core/base/types.c', 'OTHER("uuid", BYTES, 16, 1)', 'OTHER("uuid", BYTES, 16, 16)'),
    ('core/base/types.c', '1, 4, 3, 8, 7, ONES', '1, 4, 3, 8, 7, IEEE'),
    ('core/base/types.c', '1, 5, 2, 8, 16, MINUS_0', '1, 5, 2, 8, 15, MINUS_0'),
    ('core/layout/layout.c', 'if (type->size) return RECSORT_OK;', ''),
    ('core/plan/plan.c', 'if (bits <= 32) return 32;', 'if (bits < 32) return 32;'),
    ('core/plan/plan.c', 'step->limit = greatest - least;', 'step->limit = greatest - least + 1;'),
    ('core/plan/plan.c', '!= reverse ?', '== reverse ?'),
    ('core/plan/plan.c', '.flags = RECSORT_KEY_BIG_ENDIAN,', ''),
    ('core/plan/plan.c', '.offset = 8 * part', '.offset = 0'),
    ('core/plan/plan.c', 'i / each * target->field->size;', '0;'),
    ('core/plan/plan.c', 'lower == big ? 8 : 0', 'lower == big ? 0 : 8'),
    ('core/plan/plan.c', '== RECSORT_INT128 && !lower', '== RECSORT_INT128'),
    ('core/plan/plan.c', '(uint64_t)INT64_MIN + up', '(uint64_t)INT64_MIN + !up'),
    # permutations
    ('core/permute/permute.c', 'if (at >= count) return false;', 'if (at > count) return false;'),
    ('core/permute/permute.c', 'range.end - range.begin)) v->good = false;', 'range.end - range.begin)) v->good = true;'),
    ('core/permute/permute.c', 'if (index_at(index, bits, i) != i) return false;',
     'if (index_at(index, bits, i) > i + 1) return false;'),
    ('core/base/stream_copy.h', 'const size_t head = unaligned < size ? unaligned : size;',
     'const size_t head = 0;'),
    ('core/base/stream_copy.h', 'size = (size_t)(end - from);', 'size = 0;'),
    # the pipeline and the checks of order
    ('core/pipeline.c', 'rs_copy(records, copy, r->bytes, sorter->team);', ''),
    ('core/pipeline.c', 'rs_copy(records, r->sorted, r->bytes, sorter->team);', ''),
    ('core/pipeline.c', 'if (sorted == RECSORT_PLUGIN_UNSUPPORTED) return RECSORT_OK;', ''),
    ('core/pipeline.c', 'return status || r->moved ? status :', 'return status ? status :'),
    ('core/pipeline.c', 'r->bytes && !is_checked_first(sorter, r)', '!is_checked_first(sorter, r)'),
    ('core/pipeline.c', 'instance->lost = sorted == RECSORT_PLUGIN_LOST;\n  if (sorted == ',
     'if (sorted == '),
    ('core/pipeline.c', 'if (status) return status;\n  lap(&clock, &stats->verify_seconds);',
     'lap(&clock, &stats->verify_seconds);'),
    ('core/sorter.c', 'allocation + -(uintptr_t)allocation % RS_BLOCK_ALIGNMENT', 'allocation'),
    ('core/check.c', 'rs_window_slide(&window, part);\n  }\n  rs_window_close(sorter, &window);\n  if (status == RECSORT_OK) *disorder', '}\n  rs_window_close(sorter, &window);\n  if (status == RECSORT_OK) *disorder'),
    ('core/check.c', 'rs_window_compare(sorter, &window, i) > 0', 'rs_window_compare(sorter, &window, i) >= 0'),
    # plugins
    ('core/plugin/registry.c', 'plugin->abi >> 16 != RECSORT_PLUGIN_ABI_MAJOR', 'false'),
    ('core/plugin/registry.c', 'rs_path_is_absolute(folder) ?', 'true ?'),
    ('core/plugin/registry.c', 'info.score < moved->info.score', 'info.score > moved->info.score'),
    ('core/plugin/registry.c', 'if (!load_others && strcmp', 'if (strcmp'),
    ('core/plugin/registry.c', 'if (!load_others && strcmp', 'if (false && strcmp'),
    ('core/plugin/choice.c', 'if (count >= least_count', 'if (count > least_count'),
    ('core/plugin/choice.c', 'count < RS_LOAD_LEAST', 'count <= RS_LOAD_LEAST'),
    ('core/plugin/choice.c', 'suffices(choice, linked_in) && ', ''),
    ('core/plugin/choice.c', 'note_fallback(choice, cause);\n  use', 'use'),
    ('core/plugin/choice.c', 'choice->in_use = NULL; /*', '; /*'),
    # structs of other versions
    ('core/base/struct_size.h', 'to_size < from_size ? to_size : from_size', 'to_size'),
    ('core/base/struct_size.h', 'if (to_size > both)', 'if (false)'),
    ('core/base/sized.c', 'if (from_size < first_size)', 'if (from_size < to_size)'),
    ('core/base/sized.c', 'if (stride < first_size)', 'if (false)'),
    ('core/base/sized.c', '*array + i * stride, stride', '*array + i * size, size'),
    ('core/layout/layout.c', '(desc->offset || b->zero == RS_ZERO_GIVEN)', 'true'),
    ('core/layout/layout.c', '(desc->offset || b->zero == RS_ZERO_GIVEN)', 'desc->offset'),
    ('core/sorter.c', 'if (size == 0 || size == actual)', 'if (true)'),
    ('core/pipeline.c', 'sized_copy(permutation, struct_size, &r.order', 'sized_copy(permutation, sizeof r.order, &r.order'),
    # C++
    ('core/include/recsort/recsort.hpp', 'made.order = RECSORT_DESCENDING;', 'made.order = RECSORT_ASCENDING;'),
    ('core/include/recsort/recsort.hpp', 'Index * sizeof(element)', 'Index'),
    ('core/include/recsort/recsort.hpp', 'is_signed ? RECSORT_INT8 : RECSORT_UINT8', 'RECSORT_UINT8'),
    ('core/include/recsort/recsort.hpp', 'known.offset == used.offset &&', ''),
    ('core/include/recsort/recsort.hpp', 'a.offset < b.offset + size_of(b)', 'a.offset <= b.offset + size_of(b)'),
    ('core/include/recsort/recsort.hpp', 'before < place ? other.field_count : i', 'other.field_count * (before < place)'),
    ('core/include/recsort/recsort.hpp', 'coordinates_.get() + coordinate_count_', 'coordinates_.get()'),
    ('core/include/recsort/recsort.hpp', 'if (sorted.size() < count) return', 'if (false) return'),
    ('core/include/recsort/recsort.hpp', 'outer == RECSORT_NO_OFFSET || inner == RECSORT_NO_OFFSET', 'false'),
    ('core/include/recsort/recsort.hpp', 'recsort_sorter_destroy(sorter);', ''),
    ('core/include/recsort/recsort.hpp', 'integer_type(std::is_signed_v<integer>, sizeof(integer))', 'type_of<integer>()'),
    ('core/include/recsort/recsort.hpp', 'if (count > 1)', 'if (false)'),
    # schemas
    ('core/layout/layout.c', 'if (field->offset < end)', 'if (field->offset + 1 < end)'),
    ('core/layout/layout.c', 'if (d->size && d->size < laid_out)', 'if (false)'),
    ('core/layout/layout.c', 'desc->bit < other->bit + other->width &&', 'desc->bit == other->bit &&'),
    ('core/layout/layout.c', '(void)rs_round_up(f->extent.size, f->extent.alignment, &f->extent.size);', ';'),
    ('core/layout/layout.c', 'digits > MOST_DIGITS', 'digits > MOST_DIGITS + 1'),
    ('core/layout/layout.c', 'points > 1) return false', 'points > 2) return false'),
    ('core/layout/layout.c', 'atoi(text) <= MOST_EXPONENT', 'true'),
    # what files say about their records
    ('core/layout/file.c', 'made.offset + made.size > room', 'made.offset + made.size > room + 1'),
    ('core/layout/file.c', 'if (behind) return desc->trailer;', ''),
    ('core/layout/file.c', 'return "it is given twice"', 'break'),
    ('core/layout/file.c', 'return "it does not go with repeat"', ''),
    ('core/layout/file.c', '.endian = given->endian ? given->endian : of_record', '.endian = of_record'),
    ('core/layout/file.c', 'recsort_field_set(&element, bytes, i,', 'recsort_field_set(&element, bytes, 0,'),
    ('core/layout/file.c', '.unit = given->unit ? given->unit : 1', '.unit = given->unit'),
    ('core/layout/file.c', '.unpadded = given->unpadded,', ''),
    ('core/schema/together.c', '*at <= RS_REPEAT_WORD', '*at < RS_REPEAT_WORD'),
    ('core/schema/places.c', 'if (says != 1 || field == line)', 'if (says != 1)'),
    ('core/schema/places.c', 'if (size == 0 || size != strlen(bytes->items[0].value))', 'if (size == 0)'),
    ('core/schema/places.c', 'i ? between : "", list', '"", list'),
    ('core/schema/places.c', 'if (says != 1 || text->line.count > 1)', 'if (says != 1)'),
    ('core/schema/values.c', '(negative && magnitude && type == RECSORT_UINT64)', 'false'),
    ('core/schema_open.c', 'if (size < schema->fields_size)', 'if (false)'),
    ('core/layout/path.c', 'if (*index >= field->count)', 'if (*index > field->count)'),
]


def run(command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          **options)


def passes(command, folder, seconds):
    try:
        return run(command, cwd=folder, timeout=max(300, seconds)).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def builds(build, jobs, targets):
    return run(['ninja', '-C', str(build), f'-j{jobs}', *targets]).returncode == 0


def stages():
    """What finds a mutant: a name, the targets to build, the tests, and seconds for each."""
    units = sorted(path.stem for path in (ROOT / 'tests' / 'unit').glob('test_*.c'))
    return [('unit tests', units + ['test_hostile'], r'^(unit\.|schema\.hostile)', 60),
            ('conformance', ['conformance'], '^conformance$', 240)]


CUDA_STAGES = [('CUDA tests', ['test_in_runs', 'test_verify', 'test_cuda_devices', 'test_cuda_merges',
                                'test_cuda_resident', 'test_cuda_shards'],
                r'^cuda\.(in_runs|verify|devices|merges|resident|shards)$', 60)]
SHARDS_STAGES = [('CUDA tests', ['test_cuda_shards', 'test_verify'], r'^cuda\.(shards|verify)$', 60)]


def other_sorts():
    """The CUDA plugin's sorts, from its list, except sample and its other name."""
    names = re.findall(r'ROW\(\w+, \w+, \w+, "([^"]+)"', (ROOT / 'plugins/cuda/algorithms.h').read_text())
    return '|'.join(name for name in names if name != 'sample')


SORT_STAGES = [('emulated sorts', ['emulation', 'merges'],
                rf'^emulation\.(merges|(devices\.)?({other_sorts()}))$', 240)]
MERGE_STAGES = [('emulated merges', ['merges', 'test_device_plan', 'emulation'],
                 r'^emulation\.(merges|device_plan|merge)$', 60)]

# The sorts of ranks by the MPI library that waits well.
MPI_STAGES = [('MPI tests', ['mpi_sort_openmpi'], r'^mpi\.sort\.openmpi\.[34]$', 60)]
THREAD_STAGES = [('thread tests', ['test_pool', 'test_tasks', 'unload'], r'^threads\.(pool|tasks|unload)$', 60)]
CPP_STAGES = [('C++ tests', ['test_cpp17', 'test_members17'], r'^cpp\.(cpp|members)17$', 60)]
HEAD_STAGES = [('emulation', ['test_device_head'], r'^emulation\.device_head$', 60),
               ('CUDA tests', ['test_cuda_resident'], r'^cuda\.resident$', 120)]
PAIRS_STAGES = [('emulation', ['test_device_pairs'], r'^emulation\.device_pairs$', 60),
                ('CUDA tests', ['test_cuda_pairs', 'test_verify'], r'^cuda\.(pairs|verify)$', 120)]
KEPT_STAGES = [('emulation', ['test_kept_order'], r'^emulation\.kept_order$', 60), *CUDA_STAGES]
SEGMENT_STAGES = [('emulation', ['test_segments'], r'^emulation\.segments$', 60), *CUDA_STAGES]
SAMPLE_STAGES = [('emulation', ['emulation'], r'^emulation\.sample$', 900)]
SMALL_STAGES = [('CUDA tests', ['test_cuda_resident'], r'^cuda\.resident$', 120), *SAMPLE_STAGES]
RECORDS_STAGES = [('emulation', ['test_records'], r'^emulation\.records$', 60),
                  ('CUDA conformance', [], r'^cuda\.(resident|shards|conformance\.sample)$', 120)]
# How a file's name begins, and what finds its mutants; the first match counts. Every folder of
# plugins/cuda has sorts.
STAGES_OF = [(r'plugins/cuda/(measured_)?segment(s\.|_)', SEGMENT_STAGES),
             (r'plugins/cuda/(merge_runs\.|sample/(agent/|dispatch/)?merge_)', MERGE_STAGES),
             (r'plugins/cuda/kept_order\.', KEPT_STAGES),
             (r'(core|plugins/gpu|plugins/cuda)/shard', SHARDS_STAGES),
             (r'plugins/cuda/merge/move_tiles\.', [*MERGE_STAGES, *SHARDS_STAGES]),
             (r'plugins/cuda/merge/merge_tiles\.', SORT_STAGES),
             ('core/include/recsort/recsort.hpp', CPP_STAGES), (r'plugins/cuda/head\.', HEAD_STAGES),
             (r'plugins/cuda/sort/sample/\w+/(small_ranks|sort_small)\.', SMALL_STAGES),
             ('plugins/cuda/sort/sample/', SAMPLE_STAGES),
             (r'plugins/cuda/(records\.c|(record_key|record_units|key_words)\.h)', RECORDS_STAGES),
             (r'plugins/cuda/\w+/', SORT_STAGES),
             ('plugins/cuda/plan.h', SORT_STAGES), ('plugins/cuda/runs.cuh', SORT_STAGES),
             (r'(core/|plugins/cuda/|plugins/gpu/resident_)(device_)?pairs\.', PAIRS_STAGES),
             ('plugins/cuda/', CUDA_STAGES), ('plugins/gpu/', CUDA_STAGES),
             ('tools/mpi/', MPI_STAGES),
             ('core/device.c', CUDA_STAGES), ('core/base/(pool|platform/posix/threads).c', THREAD_STAGES),
             ('core/include/recsort/team.h', THREAD_STAGES)]


def stages_for(name):
    return next((found for start, found in STAGES_OF if re.match(start, name)), None) or stages()


def is_found(build, jobs, chosen):
    """By what a mutant was found; None: it survived."""
    for name, targets, tests, timeout in chosen:
        if not builds(build, jobs, targets):
            return 'compiler'
        if not passes(['ctest', '-j', str(jobs), '--timeout', str(timeout), '--stop-on-failure',
                       '-R', tests], build, timeout):
            return name
    return None


def copy_tree(target):
    files = run(['git', 'ls-files', '-z'], cwd=ROOT, check=True).stdout
    archive = subprocess.Popen(['tar', '-c', '--null', '-T', '-'], cwd=ROOT, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    unpack = subprocess.Popen(['tar', '-x'], cwd=target, stdin=archive.stdout)
    archive.stdin.write(files.encode())
    archive.stdin.close()
    if unpack.wait() or archive.wait():
        sys.exit('mutants: the working tree cannot be copied')


def find_stale(chosen):
    """The mutants whose text does not stand once in its file."""
    return [m for m in chosen if (ROOT / m[0]).read_text().count(m[1]) != 1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--check', action='store_true')
    parser.add_argument('-j', '--jobs', type=int, default=2)
    parser.add_argument('word', nargs='?', default='')
    arguments = parser.parse_args()
    chosen = [m for m in MUTANTS if arguments.word in m[0] or arguments.word in m[1]]
    stale = find_stale(chosen)
    for name, old, _ in stale:
        print(f'stale        {name}: {old!r} does not stand there once')
    if arguments.check:
        print(f'{len(chosen)} mutants, {len(stale)} stale')
        sys.exit(2 if stale else 0)
    chosen = [m for m in chosen if m not in stale]
    survivors = []
    with tempfile.TemporaryDirectory() as scratch:
        tree, build = Path(scratch) / 'tree', Path(scratch) / 'build'
        tree.mkdir()
        copy_tree(tree)
        configured = run(['cmake', '-G', 'Ninja', '-S', str(tree), '-B', str(build),
                          '-DCMAKE_BUILD_TYPE=Release', '-DRECSORT_TOOLS=OFF',
                          '-DCMAKE_C_FLAGS_RELEASE=-O1', '-DCMAKE_CUDA_COMPILER=NOTFOUND'])
        if configured.returncode:
            sys.exit(configured.stdout)
        why = None if builds(build, arguments.jobs, []) else 'compiler'
        wanted = []  # what would find the chosen mutants
        for stage in (stage for name, _, _ in chosen for stage in stages_for(name)):
            if stage not in wanted:
                wanted.append(stage)
        why = why or is_found(build, arguments.jobs, wanted)
        if why:
            sys.exit(f'mutants: without any, the tests fail already: {why}')
        for name, old, new in chosen:
            path = tree / name
            text = path.read_text()
            path.write_text(text.replace(old, new))
            why = is_found(build, arguments.jobs, stages_for(name))
            path.write_text(text)
            print(f'{why or "SURVIVED":12} {name}: {" ".join(old.split())} -> {" ".join(new.split())}',
                  flush=True)
            if not why:
                survivors.append(name)
    print(f'{len(chosen)} mutants, {len(survivors)} survived, {len(stale)} stale')
    sys.exit(2 if stale else 1 if survivors else 0)


if __name__ == '__main__':
    main()
