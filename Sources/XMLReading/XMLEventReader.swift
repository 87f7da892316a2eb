import CLibXML2
import MediaTiming

/// The state of parsing between two callbacks of libxml2, of which it converts the arguments for a handler.
@safe struct XMLEventReader {
    /// A list of the strings of an element, as libxml2 passes them.
    typealias Strings = UnsafeMutablePointer<UnsafePointer<xmlChar>?>

    /// The strings of the name of an element or attribute.
    @safe struct NameParts {
        let local: UnsafePointer<xmlChar>?
        let prefix: UnsafePointer<xmlChar>?
        let namespace: UnsafePointer<xmlChar>?

        var key: NameCache.Key {
            NameCache.Key(
                local: UInt(bitPattern: unsafe local),
                prefix: UInt(bitPattern: unsafe prefix),
                namespace: UInt(bitPattern: unsafe namespace)
            )
        }

        /// The name; an undeclared prefix remains part of the local name.
        var name: XMLName {
            if unsafe namespace == nil, let prefix = unsafe prefix {
                return XMLName(unsafe Self.string(prefix) + ":" + Self.string(local))
            }
            return XMLName(unsafe Self.string(local), in: unsafe Self.string(namespace))
        }

        private static func string(_ text: UnsafePointer<xmlChar>?) -> String {
            unsafe text.map { unsafe String(cString: $0) } ?? ""
        }
    }

    let limits: XMLDocumentParser.Limits
    private let filter: XMLDocumentParser.TextFilter
    private var depth = 0
    private var elements = 0
    /// The cost of the events since the last check for a cancellation, in bytes.
    private var uncheckedCost = 0
    /// The cost after which a cancellation is noticed, in bytes: 1 MiB of text, or 4,096 elements.
    private static let checkedCost = 1 << 20
    /// The cost of an element besides its text, in bytes.
    private static let elementCost = checkedCost / 4_096
    /// The open elements that declare namespaces, with their depths and the numbers of declarations.
    ///
    /// Their sum is limited because libxml2 compares a name with all of them at each lookup.
    private var declarations: [(depth: Int, count: Int)] = []
    private var namespaceCount = 0
    /// The maximum number of namespace declarations that are in scope at one element.
    private static let maximumNamespaceCount = 256
    /// The maximum length of a namespace name, in bytes; limited because it is compared at each element.
    private static let maximumNamespaceLength = 1_024
    private var pendingText: [UInt8] = []
    private var isPendingBlank = true
    private var attributes = XMLAttributes()
    private let series: [XMLReducedDocument.Series]
    /// The position of the next series in ``series``.
    private var nextSeries = 0
    /// The depth of the open element that stands for a series, or 0 if there is none.
    private var seriesDepth = 0
    private var names = NameCache()
    private var context: xmlParserCtxtPtr?
    /// A Boolean value that indicates whether further events are ignored.
    private(set) var hasStopped = false
    /// A Boolean value that indicates whether the document has to be read without series.
    private(set) var needsCompleteDocument = false
    private(set) var error: XMLReadingError?

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - limits: The limits of the document.
    ///   - filter: The text that is passed to the handler.
    ///   - series: The series of elements for each of which one element stands in the document.
    init(
        limits: XMLDocumentParser.Limits,
        filter: XMLDocumentParser.TextFilter,
        series: [XMLReducedDocument.Series] = []
    ) {
        self.limits = limits
        self.filter = filter
        self.series = series
    }

    /// Sets the parser that makes the callbacks; `nil` before it is freed, with its strings.
    mutating func setContext(_ context: xmlParserCtxtPtr?) {
        unsafe self.context = context
        names = NameCache()
    }

    // MARK: Errors

    private var line: Int { unsafe context.map { Int(unsafe xmlSAX2GetLineNumber($0)) } ?? 0 }

    mutating func fail(_ code: XMLReadingError.Code, _ message: String, line: Int? = nil) {
        if error == nil, !hasStopped { error = XMLReadingError(code, message, line: line ?? self.line) }
        stop()
    }

    /// Stops parsing if the task that waits for it is canceled, which is checked after each ``checkedCost``.
    ///
    /// - Parameter cost: The cost of the current event.
    private mutating func stopIfCanceled(adding cost: Int) {
        uncheckedCost += cost
        guard uncheckedCost >= Self.checkedCost else { return }
        uncheckedCost = 0
        guard CancelableWork.isCanceled else { return }
        if error == nil { error = .canceled(line: line) }
        stop()
    }

    private mutating func stop() {
        hasStopped = true
        if let context = unsafe context { unsafe xmlStopParser(context) }
    }

    mutating func rejectDeclaration(of what: String) {
        fail(.hasDeclarations, "the document declares \(what), which is not allowed")
    }

    mutating func handleParserError(_ error: UnsafeMutablePointer<xmlError>?) {
        guard let error = unsafe error, unsafe error.pointee.level.rawValue >= XML_ERR_ERROR.rawValue else { return }
        // Undeclared prefixes and invalid namespace names do not make a document unreadable.
        // Bounded: the domain is a constant of libxml2.
        guard unsafe error.pointee.domain != Int32(XML_FROM_NAMESPACE.rawValue) else { return }
        let message =
            unsafe error.pointee.message.map { unsafe String(cString: $0) } ?? "the document is not well-formed"
        let trimmed = message.prefix(200).split(whereSeparator: \.isNewline).joined(separator: " ")
        fail(.malformed, trimmed, line: unsafe Int(error.pointee.line))
    }

    // MARK: Names

    private mutating func name(_ parts: NameParts) -> XMLName {
        let key = parts.key
        let position = key.position
        if names.keys[position] == key { return names.names[position] }
        let name = parts.name
        names.keys[position] = key
        names.names[position] = name
        return name
    }

    // MARK: Elements

    /// Handles the start of an element with a number of attributes, each of which has five strings: local name, prefix,
    /// namespace, start and end of the value.
    mutating func startElement<Handler: XMLEventHandler>(
        _ parts: NameParts,
        attributes list: Strings?,
        count: Int,
        _ handler: inout Handler
    ) {
        guard !hasStopped else { return }
        stopIfCanceled(adding: Self.elementCost)
        guard !hasStopped else { return }
        flushText(&handler)
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
        if let table = startedSeries {
            handleSeries(table, parts, &handler)
        } else {
            unsafe readAttributes(list, count: count)
            handler.startElement(name(parts), attributes: attributes, line: line)
        }
        if handler.isFinished { stop() }
    }

    private mutating func handleSeries<Handler: XMLEventHandler>(
        _ table: XMLNumberTable,
        _ parts: NameParts,
        _ handler: inout Handler
    ) {
        nextSeries += 1
        elements += table.count - 1
        guard elements <= limits.maximumElementCount else {
            return fail(.tooLarge, "the document has more than \(limits.maximumElementCount) elements")
        }
        seriesDepth = depth
        // A document has one root element.
        guard depth > 1 || table.count == 1, handler.handleNumbers(table, of: name(parts), line: line) else {
            needsCompleteDocument = true
            return stop()
        }
    }

    /// The table of the series that the element stands for whose start tag is being read; `nil` for other elements.
    private var startedSeries: XMLNumberTable? {
        guard nextSeries < series.count, let input = unsafe context?.pointee.input else { return nil }
        let position = unsafe Int(truncatingIfNeeded: input.pointee.consumed) + (input.pointee.cur - input.pointee.base)
        let next = series[nextSeries]
        return position > next.position ? next.table : nil
    }

    private mutating func readAttributes(_ list: Strings?, count: Int) {
        attributes.attributes.removeAll(keepingCapacity: true)
        guard let list = unsafe list else { return }
        for index in 0..<count {
            // Bounded: libxml2 allocated five pointers for each attribute.
            let entry = unsafe list + index * 5
            guard let start = unsafe entry[3], let end = unsafe entry[4] else { continue }
            let value = unsafe String(
                decoding: UnsafeBufferPointer(start: start, count: max(0, end - start)),
                as: UTF8.self
            )
            let parts = unsafe NameParts(local: entry[0], prefix: entry[1], namespace: entry[2])
            attributes.attributes.append(.init(name: name(parts), value: value))
        }
    }

    /// Counts the namespaces that the next element declares; `list` has a prefix and a namespace name for each.
    mutating func countNamespaces(_ list: Strings?, count: Int) {
        guard !hasStopped else { return }
        declarations.append((depth + 1, count))
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

    mutating func endElement<Handler: XMLEventHandler>(_ parts: NameParts, _ handler: inout Handler) {
        guard !hasStopped else { return }
        flushText(&handler)
        if let last = declarations.last, last.depth == depth {
            namespaceCount -= last.count
            declarations.removeLast()
        }
        depth -= 1
        if seriesDepth > depth {
            seriesDepth = 0
        } else {
            handler.endElement(name(parts))
        }
        if handler.isFinished { stop() }
    }

    // MARK: Text

    mutating func appendCharacters(_ text: UnsafePointer<xmlChar>?, length: Int32) {
        guard !hasStopped, let text = unsafe text, length > 0 else { return }
        let buffer = unsafe UnsafeBufferPointer(start: text, count: Int(length))
        if filter == .nonWhitespace, isPendingBlank {
            isPendingBlank = unsafe buffer.allSatisfy { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }
        }
        unsafe pendingText.append(contentsOf: buffer)
        stopIfCanceled(adding: buffer.count)
    }

    private mutating func flushText<Handler: XMLEventHandler>(_ handler: inout Handler) {
        guard !pendingText.isEmpty else { return }
        if filter == .all || !isPendingBlank { handler.handleText(String(decoding: pendingText, as: UTF8.self)) }
        isPendingBlank = true
        pendingText.removeAll(keepingCapacity: true)
    }
}
