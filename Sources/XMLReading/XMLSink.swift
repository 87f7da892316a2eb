import CLibXML2

/// The object that receives the callbacks of libxml2; a class, because generic values cannot be passed through C
/// pointers.
class XMLSink {
    // Safe: the parser makes one callback at a time, and none of them leads to another one. Checks of that at run time
    // would take a quarter of the time of parsing.
    @exclusivity(unchecked) final var reader: XMLEventReader

    init(_ reader: XMLEventReader) { unsafe self.reader = reader }

    func startElement(_ name: XMLEventReader.NameParts, attributes: XMLEventReader.Strings?, count: Int) {}
    func endElement(_ name: XMLEventReader.NameParts) {}

    private static let isInitialized: Bool = {
        xmlInitParser()
        return true
    }()

    /// Parses a document, and calls ``startElement(_:attributes:count:)`` and ``endElement(_:)``.
    ///
    /// - Returns: The error because of which parsing stopped, or `nil` if there is none.
    func parse(_ bytes: Span<UInt8>) -> XMLReadingError? {
        guard Self.isInitialized, let length = Int32(exactly: bytes.count) else {
            return XMLReadingError(.tooLarge, "it has more than \(Int32.max) bytes", line: 0)
        }
        // The scan comes first because the parser compares each attribute of an element with all others before it reports
        // any.
        guard XMLTagScan.hasKnownEncoding(bytes) else {
            return XMLReadingError(.malformed, "the encoding is not supported", line: 1)
        }
        let maximumCount = unsafe reader.limits.maximumAttributeCount
        guard !XMLTagScan.hasElement(withMoreAttributesThan: maximumCount, in: bytes) else {
            return XMLReadingError(.tooLarge, "an element has more than \(maximumCount) attributes", line: 0)
        }
        // Safe: the parser accesses the bytes only within this closure, and all callbacks run inside it.
        return unsafe bytes.withUnsafeBytes { buffer in unsafe parse(buffer, length: length) }
    }

    private func parse(_ buffer: UnsafeRawBufferPointer, length: Int32) -> XMLReadingError? {
        guard let base = buffer.baseAddress,
            let context = unsafe xmlCreateMemoryParserCtxt(base.assumingMemoryBound(to: CChar.self), length)
        else { return XMLReadingError(.malformed, "not enough memory to parse the document", line: 0) }
        defer {
            // The parser creates a document for the entities of a document type declaration; the caller has to free it.
            unsafe xmlFreeDoc(context.pointee.myDoc)
            unsafe xmlFreeParserCtxt(context)
        }
        // Without the option for entities, ampersands in attributes stay references. Only the five predefined entities are
        // expanded, because declarations are rejected.
        let options = XML_PARSE_NONET.rawValue | XML_PARSE_NOCDATA.rawValue | XML_PARSE_NOENT.rawValue
        // Bounded: the flags are constants of libxml2.
        unsafe xmlCtxtUseOptions(context, Int32(options))
        unsafe install(in: context)
        unsafe reader.setContext(context)
        // Errors without a parser context, such as encoding errors, would be printed. This setting is local to the thread.
        let formerFunction = unsafe __xmlStructuredError().pointee
        let formerContext = unsafe __xmlStructuredErrorContext().pointee
        unsafe xmlSetStructuredErrorFunc(nil) { _, _ in }
        defer { unsafe xmlSetStructuredErrorFunc(formerContext, formerFunction) }
        withExtendedLifetime(self) { _ = unsafe xmlParseDocument(context) }
        unsafe reader.setContext(nil)
        if unsafe context.pointee.wellFormed == 0, unsafe !reader.hasStopped {
            return unsafe reader.error ?? XMLReadingError(.malformed, "the document is not well-formed", line: 0)
        }
        return unsafe reader.error
    }

    private func install(in context: xmlParserCtxtPtr) {
        guard let handler = unsafe context.pointee.sax else { return }
        // Clears all callbacks, including those that build a tree, load entities and print errors.
        unsafe UnsafeMutableRawPointer(handler).initializeMemory(
            as: UInt8.self,
            repeating: 0,
            count: MemoryLayout<xmlSAXHandler>.size
        )
        unsafe handler.pointee.initialized = XML_SAX2_MAGIC
        unsafe handler.pointee.startElementNs = {
            sink,
            local,
            prefix,
            namespace,
            declared,
            uris,
            count,
            _,
            attributes in
            guard let sink = unsafe XMLSink.sink(at: sink) else { return }
            // Bounded: the counts of the C interface have 32 bits.
            if declared > 0 { unsafe sink.reader.countNamespaces(uris, count: Int(declared)) }
            let name = unsafe XMLEventReader.NameParts(local: local, prefix: prefix, namespace: namespace)
            // Bounded: the counts of the C interface have 32 bits.
            unsafe sink.startElement(name, attributes: attributes, count: Int(count))
        }
        unsafe handler.pointee.endElementNs = { sink, local, prefix, namespace in
            let name = unsafe XMLEventReader.NameParts(local: local, prefix: prefix, namespace: namespace)
            unsafe XMLSink.sink(at: sink)?.endElement(name)
        }
        unsafe handler.pointee.characters = { sink, text, length in
            unsafe XMLSink.sink(at: sink)?.reader.appendCharacters(text, length: length)
        }
        // With the same function for both, the parser does not have to determine whether white space is ignorable.
        unsafe handler.pointee.ignorableWhitespace = handler.pointee.characters
        unsafe handler.pointee.cdataBlock = handler.pointee.characters
        unsafe handler.pointee.serror = { sink, error in
            unsafe XMLSink.sink(at: sink)?.reader.handleParserError(error)
        }
        unsafe handler.pointee.entityDecl = { sink, _, _, _, _, _ in
            unsafe XMLSink.sink(at: sink)?.reader.rejectDeclaration(of: "an entity")
        }
        unsafe handler.pointee.attributeDecl = { sink, _, _, _, _, _, list in
            unsafe xmlFreeEnumeration(list)
            unsafe XMLSink.sink(at: sink)?.reader.rejectDeclaration(of: "an attribute")
        }
        unsafe context.pointee.userData = Unmanaged.passUnretained(self).toOpaque()
    }

    private static func sink(at pointer: UnsafeMutableRawPointer?) -> XMLSink? {
        // Safe: `parse` sets this pointer to the sink and keeps the sink alive until the parser has returned.
        unsafe pointer.map { unsafe Unmanaged<XMLSink>.fromOpaque($0).takeUnretainedValue() }
    }
}
