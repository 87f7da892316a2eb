/// A namespace for parsing XML documents with libxml2 (W3C XML 1.0 and Namespaces in XML).
///
/// Only the given bytes are read: no network resource, file or external entity is loaded. Documents that declare
/// entities or attributes are rejected, so that only the five predefined entities and character references are
/// expanded.
package enum XMLDocumentParser {
    /// The limits on the size and complexity of a document; a document that exceeds one is rejected.
    package struct Limits: Sendable, Hashable {
        /// The maximum size of a document, in bytes; the default of 64 MiB exceeds that of any realistic manifest or
        /// subtitle file.
        package var maximumSize: Int
        /// The maximum nesting depth of elements, 1 to 256; 256 by default.
        package var maximumDepth: Int
        /// The maximum number of elements in the document; 4 million by default.
        package var maximumElementCount: Int
        /// The maximum number of attributes of one element, including namespace declarations; 256 by default.
        package var maximumAttributeCount: Int

        /// Creates limits with the given values.
        package init(
            maximumSize: Int = 64 << 20,
            maximumDepth: Int = 256,
            maximumElementCount: Int = 4_000_000,
            maximumAttributeCount: Int = 256
        ) {
            self.maximumSize = maximumSize
            self.maximumDepth = maximumDepth
            self.maximumElementCount = maximumElementCount
            self.maximumAttributeCount = maximumAttributeCount
        }
    }

    /// A filter that selects the text passed to the handler.
    package enum TextFilter: Sendable, Hashable {
        /// Passes all text.
        case all
        /// Drops text that consists of white space only, such as the indentation between the elements of a manifest.
        case nonWhitespace
    }

    /// Parses a document and passes its elements and text to a handler.
    ///
    /// Parsing ends early when the task that waits for it is canceled, after at most 4,096 elements or 1 MiB of text.
    ///
    /// - Parameters:
    ///   - bytes: The document, in UTF-8, UTF-16 or the encoding that its XML declaration names.
    ///   - limits: The limits beyond which the document is rejected.
    ///   - filter: The text that is passed to the handler.
    ///   - handler: The receiver of the events. If an error is thrown, it keeps the events received before.
    /// - Throws: ``XMLReadingError``, with the code `canceled` if the task is canceled.
    /// - Complexity: O(*n*) in bytes.
    package static func parse<Handler: XMLEventHandler>(
        _ bytes: Span<UInt8>,
        limits: Limits = Limits(),
        textFilter filter: TextFilter = .all,
        into handler: inout Handler
    ) throws(XMLReadingError) {
        guard bytes.count <= limits.maximumSize else {
            throw XMLReadingError(
                .tooLarge,
                "the document has \(bytes.count) bytes, more than the limit of \(limits.maximumSize)",
                line: 0
            )
        }
        guard bytes.count > 0 else { throw XMLReadingError(.malformed, "the document is empty", line: 0) }
        // White space that is passed on has to keep its place between elements.
        if filter == .nonWhitespace, let element = Handler.numberElement, XMLTagScan.isUTF8(bytes),
            let document = XMLNumberScan.reduce(bytes, element)
        {
            let reader = XMLEventReader(limits: limits, filter: filter, series: document.series)
            let sink = HandlerSink(handler, reader)
            let error = sink.parse(document.bytes.span)
            if unsafe !sink.reader.needsCompleteDocument {
                handler = sink.handler
                if let error { throw error }
                return
            }
        }
        let sink = HandlerSink(handler, XMLEventReader(limits: limits, filter: filter))
        let error = sink.parse(bytes)
        handler = sink.handler
        if let error { throw error }
    }
}
