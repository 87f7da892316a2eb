import CLibXML2

// All access to memory of libxml2 is in this file.

/// The object that receives the callbacks of libxml2; a class, because generic values cannot be passed through C
/// pointers.
@safe class XMLSink {
    private let limits: XMLDocumentParser.Limits
    private let filter: XMLDocumentParser.TextFilter
    private var depth = 0
    private var elements = 0
    /// The number of namespaces that each open element declares.
    ///
    /// Their sum is limited because libxml2 compares a name with all of them at each lookup.
    private var namespaceCounts: [Int] = []
    private var namespaceCount = 0
    /// The maximum number of namespace declarations that are in scope at one element.
    private static let maximumNamespaceCount = 256
    /// The maximum length of a namespace name, in bytes; limited because it is compared at each element.
    private static let maximumNamespaceLength = 1_024
    private var pendingText: [UInt8] = []
    private var isPendingBlank = true
    private var attributes = XMLAttributes()
    // A cache of names, so that repeated names are not converted to strings again.
    private var nameCache = [(key: NameKey, name: XMLName)?](repeating: nil, count: 256)
    private var hasStopped = false
    private var context: xmlParserCtxtPtr?
    private(set) var error: XMLReadingError?

    init(limits: XMLDocumentParser.Limits, filter: XMLDocumentParser.TextFilter) {
        self.limits = limits
        self.filter = filter
    }

    func handleStartElement(_ name: XMLName, attributes: XMLAttributes, line: Int) {}
    func handleEndElement(_ name: XMLName) {}
    func handleText(_ text: String) {}
    var hasEnough: Bool { false }

    private static let isInitialized: Bool = {
        xmlInitParser()
        return true
    }()

    func parse(_ bytes: Span<UInt8>) {
        guard Self.isInitialized, let length = Int32(exactly: bytes.count) else {
            fail(.tooLarge, "it has more than \(Int32.max) bytes", line: 0)
            return
        }
        // Safe: the parser accesses the bytes only within this closure, and all callbacks run inside it.
        unsafe bytes.withUnsafeBytes { buffer in
            // The scan comes first because the parser compares each attribute of an element with all others before it
            // reports any.
            guard XMLTagScan.hasKnownEncoding(bytes) else {
                fail(.malformed, "the encoding is not supported", line: 1)
                return
            }
            guard !XMLTagScan.hasElement(withMoreAttributesThan: limits.maximumAttributeCount, in: bytes) else {
                fail(.tooLarge, "an element has more than \(limits.maximumAttributeCount) attributes", line: 0)
                return
            }
            guard let base = buffer.baseAddress,
                let context = unsafe xmlCreateMemoryParserCtxt(base.assumingMemoryBound(to: CChar.self), length)
            else {
                fail(.malformed, "not enough memory to parse the document")
                return
            }
            defer {
                // The parser creates a document for the entities of a document type declaration; the caller has to free
                // it.
                unsafe xmlFreeDoc(context.pointee.myDoc)
                unsafe xmlFreeParserCtxt(context)
            }
            // Without the option for entities, ampersands in attributes stay references. Only the five predefined entities
            // are expanded, because declarations are rejected.
            let options = XML_PARSE_NONET.rawValue | XML_PARSE_NOCDATA.rawValue | XML_PARSE_NOENT.rawValue
            // Bounded: the flags are constants of libxml2.
            unsafe xmlCtxtUseOptions(context, Int32(options))
            unsafe install(in: context)
            unsafe self.context = context
            // Errors without a parser context, such as encoding errors, would be printed. This setting is local to the
            // thread.
            let formerFunction = unsafe __xmlStructuredError().pointee
            let formerContext = unsafe __xmlStructuredErrorContext().pointee
            unsafe xmlSetStructuredErrorFunc(nil) { _, _ in }
            defer { unsafe xmlSetStructuredErrorFunc(formerContext, formerFunction) }
            withExtendedLifetime(self) { _ = unsafe xmlParseDocument(context) }
            unsafe self.context = nil
            if unsafe context.pointee.wellFormed == 0, error == nil, !hasStopped {
                fail(.malformed, "the document is not well-formed")
            }
            nameCache = nameCache.map { _ in nil }
        }
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
            // Bounded: the count of the C interface has 32 bits.
            unsafe sink.countNamespaces(uris, count: Int(declared))
            unsafe sink.elementStarted(
                local: local,
                prefix: prefix,
                namespace: namespace,
                attributes: attributes,
                // Bounded: the count of the C interface has 32 bits.
                count: Int(count)
            )
        }
        unsafe handler.pointee.endElementNs = { sink, local, prefix, namespace in
            unsafe XMLSink.sink(at: sink)?.elementEnded(local: local, prefix: prefix, namespace: namespace)
        }
        unsafe handler.pointee.characters = { sink, text, length in
            unsafe XMLSink.sink(at: sink)?.appendCharacters(text, length: length)
        }
        // With the same function for both, the parser does not have to determine whether white space is ignorable.
        unsafe handler.pointee.ignorableWhitespace = handler.pointee.characters
        unsafe handler.pointee.cdataBlock = handler.pointee.characters
        unsafe handler.pointee.serror = { sink, error in unsafe XMLSink.sink(at: sink)?.handleParserError(error) }
        unsafe handler.pointee.entityDecl = { sink, _, _, _, _, _ in
            unsafe XMLSink.sink(at: sink)?.rejectDeclaration(of: "an entity")
        }
        unsafe handler.pointee.attributeDecl = { sink, _, _, _, _, _, list in
            unsafe xmlFreeEnumeration(list)
            unsafe XMLSink.sink(at: sink)?.rejectDeclaration(of: "an attribute")
        }
        unsafe context.pointee.userData = Unmanaged.passUnretained(self).toOpaque()
    }

    private static func sink(at pointer: UnsafeMutableRawPointer?) -> XMLSink? {
        // Safe: `parse` sets this pointer to the sink and keeps the sink alive until the parser has returned.
        unsafe pointer.map { unsafe Unmanaged<XMLSink>.fromOpaque($0).takeUnretainedValue() }
    }

    // Bounded: the number of the C interface has 32 bits.
    private var line: Int { unsafe context.map { Int(unsafe xmlSAX2GetLineNumber($0)) } ?? 0 }

    private func fail(_ code: XMLReadingError.Code, _ message: String, line: Int? = nil) {
        if error == nil, !hasStopped { error = XMLReadingError(code, message, line: line ?? self.line) }
        stop()
    }

    private func stop() {
        hasStopped = true
        if let context = unsafe context { unsafe xmlStopParser(context) }
    }

    private func rejectDeclaration(of what: String) {
        fail(.hasDeclarations, "the document declares \(what), which is not allowed")
    }

    private func handleParserError(_ error: UnsafeMutablePointer<xmlError>?) {
        guard let error = unsafe error, unsafe error.pointee.level.rawValue >= XML_ERR_ERROR.rawValue else { return }
        // Undeclared prefixes and invalid namespace names do not make a document unreadable.
        // Bounded: the domain is a constant of libxml2.
        guard unsafe error.pointee.domain != Int32(XML_FROM_NAMESPACE.rawValue) else { return }
        let message =
            unsafe error.pointee.message.map { unsafe String(cString: $0) } ?? "the document is not well-formed"
        let trimmed = message.prefix(200).split(whereSeparator: \.isNewline).joined(separator: " ")
        // Bounded: the number of the C interface has 32 bits.
        fail(.malformed, trimmed, line: unsafe Int(error.pointee.line))
    }

    /// Returns the name for the given parts; an undeclared prefix remains part of the local name.
    private func name(
        local: UnsafePointer<xmlChar>?,
        prefix: UnsafePointer<xmlChar>?,
        namespace: UnsafePointer<xmlChar>?
    ) -> XMLName {
        let key = NameKey(
            local: UInt(bitPattern: local),
            prefix: UInt(bitPattern: prefix),
            namespace: UInt(bitPattern: namespace)
        )
        let position = key.cacheIndex
        if let known = nameCache[position], known.key == key { return known.name }
        let name: XMLName
        if unsafe namespace == nil, let prefix = unsafe prefix {
            name = XMLName(unsafe string(prefix) + ":" + string(local))
        } else {
            name = XMLName(unsafe string(local), in: unsafe string(namespace))
        }
        nameCache[position] = (key, name)
        return name
    }

    private func string(_ text: UnsafePointer<xmlChar>?) -> String {
        unsafe text.map { unsafe String(cString: $0) } ?? ""
    }

    /// The addresses of the parts of a name, which identify it because libxml2 interns each string once per document.
    private struct NameKey: Equatable {
        let local: UInt
        let prefix: UInt
        let namespace: UInt

        /// The index in the cache of 256 names; a name replaces another one with the same index.
        var cacheIndex: Int {
            let mixed = (local ^ prefix &* 31 ^ namespace &* 131) &* 0x9E37_79B9_7F4A_7C15
            // Bounded: eight bits are left.
            return Int(mixed >> 56)
        }
    }

    private func elementStarted(
        local: UnsafePointer<xmlChar>?,
        prefix: UnsafePointer<xmlChar>?,
        namespace: UnsafePointer<xmlChar>?,
        attributes list: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?,
        count: Int
    ) {
        guard !hasStopped else { return }
        flushText()
        depth += 1
        elements += 1
        guard depth <= min(limits.maximumDepth, 256) else {
            return fail(.tooLarge, "elements are nested more than \(min(limits.maximumDepth, 256)) levels deep")
        }
        guard elements <= limits.maximumElementCount else {
            return fail(.tooLarge, "the document has more than \(limits.maximumElementCount) elements")
        }
        guard count <= limits.maximumAttributeCount else {
            return fail(.tooLarge, "an element has more than \(limits.maximumAttributeCount) attributes")
        }
        // Moved to a local variable to avoid an exclusivity check at each access; this is the most frequently executed
        // code.
        var own = attributes
        attributes = XMLAttributes()
        own.attributes.removeAll(keepingCapacity: true)
        if let list = unsafe list {
            for index in 0..<count {
                // Five pointers for each attribute: local name, prefix, namespace, start and end of the value.
                // Bounded: libxml2 allocated five pointers for each attribute.
                let entry = unsafe list + index * 5
                guard let start = unsafe entry[3], let end = unsafe entry[4] else { continue }
                let value = unsafe String(
                    decoding: UnsafeBufferPointer(start: start, count: max(0, end - start)),
                    as: UTF8.self
                )
                own.attributes.append(
                    .init(name: unsafe name(local: entry[0], prefix: entry[1], namespace: entry[2]), value: value)
                )
            }
        }
        handleStartElement(unsafe name(local: local, prefix: prefix, namespace: namespace), attributes: own, line: line)
        attributes = own
        if hasEnough { stop() }
    }

    /// Counts the namespaces that an element declares; `list` has a prefix and a namespace name for each.
    private func countNamespaces(_ list: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?, count: Int) {
        guard !hasStopped else { return }
        namespaceCounts.append(count)
        namespaceCount += count
        guard namespaceCount <= Self.maximumNamespaceCount else {
            return fail(.tooLarge, "more than \(Self.maximumNamespaceCount) namespace declarations are in scope")
        }
        guard let list = unsafe list else { return }
        for index in 0..<count {
            // Bounded: the list has twice as many elements as the 32-bit count of the C interface says.
            guard let name = unsafe list[index * 2 + 1], unsafe Self.isTooLong(name) else { continue }
            return fail(.tooLarge, "a namespace name is longer than \(Self.maximumNamespaceLength) bytes")
        }
    }

    private static func isTooLong(_ namespace: UnsafePointer<xmlChar>) -> Bool {
        var length = 0
        while length <= maximumNamespaceLength, unsafe namespace[length] != 0 { length += 1 }
        return length > maximumNamespaceLength
    }

    private func elementEnded(
        local: UnsafePointer<xmlChar>?,
        prefix: UnsafePointer<xmlChar>?,
        namespace: UnsafePointer<xmlChar>?
    ) {
        guard !hasStopped else { return }
        flushText()
        depth -= 1
        namespaceCount -= namespaceCounts.popLast() ?? 0
        handleEndElement(unsafe name(local: local, prefix: prefix, namespace: namespace))
        if hasEnough { stop() }
    }

    private func appendCharacters(_ text: UnsafePointer<xmlChar>?, length: Int32) {
        guard !hasStopped, let text = unsafe text, length > 0 else { return }
        // Bounded: the length of the C interface has 32 bits.
        let buffer = unsafe UnsafeBufferPointer(start: text, count: Int(length))
        if filter == .nonWhitespace, isPendingBlank {
            isPendingBlank = unsafe buffer.allSatisfy { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }
        }
        unsafe pendingText.append(contentsOf: buffer)
    }

    private func flushText() {
        let isDropped = pendingText.isEmpty || filter == .nonWhitespace && isPendingBlank
        isPendingBlank = true
        defer { pendingText.removeAll(keepingCapacity: true) }
        if !isDropped { handleText(String(decoding: pendingText, as: UTF8.self)) }
    }
}
