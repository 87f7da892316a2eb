// The functions of the toolchain's index store library that the check uses.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void *indexstore_t;
typedef void *indexstore_error_t;
typedef void *indexstore_symbol_t;
typedef void *indexstore_occurrence_t;
typedef void *indexstore_record_reader_t;
typedef void *indexstore_unit_reader_t;
typedef void *indexstore_unit_dependency_t;

typedef struct {
    const char *data;
    size_t length;
} indexstore_string_ref_t;

indexstore_t indexstore_store_create(const char *path, indexstore_error_t *error);
const char *indexstore_error_get_description(indexstore_error_t error);
bool indexstore_store_units_apply_f(
    indexstore_t store, unsigned sorted, void *context, bool (*applier)(void *context, indexstore_string_ref_t name));

indexstore_unit_reader_t indexstore_unit_reader_create(indexstore_t store, const char *name, indexstore_error_t *error);
void indexstore_unit_reader_dispose(indexstore_unit_reader_t unit);
void indexstore_unit_reader_get_modification_time(indexstore_unit_reader_t unit, int64_t *seconds, int64_t *nanoseconds);
indexstore_string_ref_t indexstore_unit_reader_get_main_file(indexstore_unit_reader_t unit);
indexstore_string_ref_t indexstore_unit_reader_get_module_name(indexstore_unit_reader_t unit);
bool indexstore_unit_reader_dependencies_apply_f(
    indexstore_unit_reader_t unit, void *context,
    bool (*applier)(void *context, indexstore_unit_dependency_t dependency));
int indexstore_unit_dependency_get_kind(indexstore_unit_dependency_t dependency);
indexstore_string_ref_t indexstore_unit_dependency_get_name(indexstore_unit_dependency_t dependency);
indexstore_string_ref_t indexstore_unit_dependency_get_filepath(indexstore_unit_dependency_t dependency);

indexstore_record_reader_t indexstore_record_reader_create(
    indexstore_t store, const char *name, indexstore_error_t *error);
void indexstore_record_reader_dispose(indexstore_record_reader_t record);
bool indexstore_record_reader_occurrences_apply_f(
    indexstore_record_reader_t record, void *context,
    bool (*applier)(void *context, indexstore_occurrence_t occurrence));
indexstore_symbol_t indexstore_occurrence_get_symbol(indexstore_occurrence_t occurrence);
uint64_t indexstore_occurrence_get_roles(indexstore_occurrence_t occurrence);
void indexstore_occurrence_get_line_col(indexstore_occurrence_t occurrence, unsigned *line, unsigned *column);
indexstore_string_ref_t indexstore_symbol_get_name(indexstore_symbol_t symbol);
indexstore_string_ref_t indexstore_symbol_get_usr(indexstore_symbol_t symbol);
