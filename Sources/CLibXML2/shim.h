#include <libxml/xmlversion.h>
// The headers would bring those of ICU, of which the toolchain has its own: two definitions of one type in one program.
#undef LIBXML_ICU_ENABLED
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/SAX2.h>
#include <libxml/xmlerror.h>
