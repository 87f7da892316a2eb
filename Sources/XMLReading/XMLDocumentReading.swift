/// Reads XML documents through libxml2 (W3C XML 1.0 and Namespaces in XML).
///
/// Nothing outside of the bytes is opened: no network, no file, no external entity. Documents that declare entities or
/// attributes are refused, so nothing can expand beyond the five entities of XML and character references.
public enum XMLDocumentReading {
    /// How much of a document is read.
    public struct Limits: Sendable, Hashable {
        /// The most bytes of a document; 64 MiB by default, which is more than any playlist or subtitle has.
        public var bytes: Int
        /// The most elements inside of one another, 1 to 256; 256 by default.
        public var depth: Int
        /// The most elements; 4 million by default.
        public var elements: Int
        /// The most attributes of one element; 256 by default.
        public var attributes: Int

        /// Makes limits.
        public init(bytes: Int = 64 << 20, depth: Int = 256, elements: Int = 4_000_000, attributes: Int = 256) {
            self.bytes = bytes
            self.depth = depth
            self.elements = elements
            self.attributes = attributes
        }
    }

    /// Which text is told.
    public enum TextFilter: Sendable, Hashable {
        /// All.
        case all
        /// Only such that is not white space alone, as between the elements of a manifest.
        case notBlank
    }

    /// Reads a document and tells a handler what it says.
    ///
    /// - Parameters:
    ///   - bytes: The document, in UTF-8, UTF-16 or what its declaration names.
    ///   - limits: How much is read at most.
    ///   - filter: Which text is told.
    ///   - handler: What is told; it keeps what it was told before an error.
    /// - Throws: ``XMLReadingError``.
    /// - Complexity: O(*n*) in bytes.
    public static func read<Handler: XMLEventHandler>(
        _ bytes: Span<UInt8>,
        limits: Limits = Limits(),
        text filter: TextFilter = .all,
        into handler: inout Handler
    ) throws(XMLReadingError) {
        guard bytes.count <= limits.bytes else {
            throw XMLReadingError(.tooLarge, "\(bytes.count) bytes are more than \(limits.bytes)", line: 0)
        }
        guard bytes.count > 0 else { throw XMLReadingError(.malformed, "there is nothing", line: 0) }
        let sink = HandlerSink(handler, limits: limits, filter: filter)
        sink.read(bytes)
        handler = sink.handler
        if let error = sink.error { throw error }
    }
}
