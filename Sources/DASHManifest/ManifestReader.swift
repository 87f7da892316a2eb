import MediaTiming
import XMLReading

/// A handler of XML events that builds the elements of a manifest and checks them against the table of definitions.
struct ManifestReader: XMLEventHandler {
    /// The namespace of manifests (ISO/IEC 23009-1:2022 §5.2.2).
    static let namespace = "urn:mpeg:dash:schema:mpd:2011"

    private let limits: ManifestLimits
    private var open: [ManifestElement] = []
    /// A Boolean value that indicates whether the innermost open element is a `SegmentTimeline`.
    private var isInTimeline = false
    /// The entries of the innermost open element that are not yet part of it.
    private var entries: [TimelineEntry] = []
    private var texts: [String] = []
    /// The number of open elements within an `S` element, including itself.
    private var entryDepth = 0
    private var elementCount = 0
    private var attributeCount = 0
    private var entryCount = 0
    private var rootNamespace = ""
    /// The prefix of the root element if the document does not declare it, with its colon.
    private var rootPrefix = ""
    private(set) var root: ManifestElement?
    private(set) var error: ManifestParsingError?
    private(set) var diagnostics: [ManifestDiagnostic] = []
    /// The estimated memory that the elements take, in bytes.
    private(set) var memorySize = 0
    private var omittedCount = 0
    private var hasNamedUndeclaredPrefix = false

    init(limits: ManifestLimits) {
        self.limits = limits
    }

    var isFinished: Bool { error != nil }

    // MARK: Events

    mutating func startElement(_ name: XMLName, attributes: XMLAttributes, line: Int) {
        if entryDepth > 0 {
            entryDepth += 1
            return
        }
        let kind = kind(of: name)
        if kind == .timelineEntry, isInTimeline {
            entryDepth = 1
            readTimelineEntry(attributes, line: line)
            return
        }
        elementCount += 1
        guard elementCount <= limits.elementCount else {
            error = .tooLarge(message: "there are more than \(limits.elementCount) elements", line: line)
            return
        }
        guard checkAttributes(attributes, isKnown: kind != nil || open.isEmpty, line: line) else { return }
        if open.isEmpty {
            guard startRoot(name, kind: kind, line: line) else { return }
        }
        let element = ManifestElement(
            name: name,
            kind: open.isEmpty ? .presentation : kind,
            attributes: attributes.attributes,
            line: line
        )
        check(element, in: open.last)
        storeEntries()
        open.append(element)
        isInTimeline = element.kind == .segmentTimeline
        texts.append("")
    }

    mutating func endElement(_ name: XMLName) {
        if entryDepth > 0 {
            entryDepth -= 1
            return
        }
        storeEntries()
        guard var element = open.popLast(), let text = texts.popLast() else { return }
        isInTimeline = open.last?.kind == .segmentTimeline
        if let kind = element.kind, Self.addressElements.contains(kind) {
            checkLength(text, of: kind.rawValue, line: element.line)
        }
        element.text = text
        element.indexChildren()
        if open.isEmpty {
            root = element
        } else {
            open[open.count - 1].children.append(element)
        }
    }

    mutating func handleText(_ text: String) {
        guard entryDepth == 0, !texts.isEmpty else { return }
        texts[texts.count - 1] += text
        memorySize +|= text.utf8.count
    }

    // MARK: Sizes

    /// The elements whose text is a URL.
    private static let addressElements: Set<ElementKind> = [.baseURL, .location, .patchLocation]
    /// The attributes that may have any length, because they are not inherited and are read once.
    private static let longAttributes: Set<String> = ["messageData", "value"]
    /// The memory of an element besides its text: its own, with room to grow, that of the period, adaptation set or
    /// representation that is made of it, and that of its arrays.
    private static let elementSize = 2 *| MemoryLayout<ManifestElement>.stride +| 256
    /// The memory of an attribute besides its text, with room to grow.
    private static let attributeSize = 2 *| MemoryLayout<XMLAttributes.Attribute>.stride
    /// The size of a text that is stored without memory of its own.
    private static let smallTextSize = 15

    /// Counts an element with its attributes.
    ///
    /// - Parameters:
    ///   - attributes: The attributes of the element.
    ///   - isKnown: A Boolean value that indicates whether the standard defines the element.
    ///   - line: The line of the element.
    /// - Returns: `false` if a limit is exceeded.
    private mutating func checkAttributes(_ attributes: XMLAttributes, isKnown: Bool, line: Int) -> Bool {
        attributeCount +|= attributes.attributes.count
        guard attributeCount <= limits.attributeCount else {
            error = .tooLarge(message: "there are more than \(limits.attributeCount) attributes", line: line)
            return false
        }
        memorySize +|= Self.elementSize
        for attribute in attributes.attributes {
            let length = attribute.value.utf8.count
            memorySize +|= Self.attributeSize +| (length > Self.smallTextSize ? length +| 32 : 0)
            if isKnown, length > limits.valueLength, !Self.longAttributes.contains(attribute.name.local) {
                checkLength(attribute.value, of: String(attribute.name.local.prefix(100)), line: line)
                return false
            }
        }
        return true
    }

    /// Rejects the manifest if a URL or the value of an attribute is too long.
    private mutating func checkLength(_ text: String, of name: String, line: Int) {
        guard text.utf8.count > limits.valueLength else { return }
        error = .tooLarge(
            message: "\(name) has \(text.utf8.count) bytes, more than \(limits.valueLength)",
            line: line
        )
    }

    /// Returns all diagnostics, the last of which counts those that exceed the limit.
    func finishedDiagnostics() -> [ManifestDiagnostic] {
        guard omittedCount > 0 else { return diagnostics }
        return diagnostics + [
            ManifestDiagnostic(
                line: nil,
                severity: .note,
                code: .omittedDiagnostics,
                message: "\(omittedCount) further diagnostics are omitted",
                section: "5"
            )
        ]
    }

    // MARK: Names

    /// Returns the element of the standard with the given name.
    ///
    /// The namespace of the root element counts as that of manifests, because many manifests misspell it.
    private func kind(of name: XMLName) -> ElementKind? {
        if name.namespace == rootNamespace || name.namespace == Self.namespace || name.namespace.isEmpty || open.isEmpty
        {
            guard !rootPrefix.isEmpty else { return ElementKind(rawValue: name.local) }
            return name.local.hasPrefix(rootPrefix)
                ? ElementKind(rawValue: String(name.local.dropFirst(rootPrefix.count)))
                : ElementKind(rawValue: name.local)
        }
        return nil
    }

    /// Handles the root element; returns `false` if it is not that of a manifest.
    private mutating func startRoot(_ name: XMLName, kind: ElementKind?, line: Int) -> Bool {
        rootNamespace = name.namespace
        var local = name.local
        if let colon = local.lastIndex(of: ":") {
            rootPrefix = String(local[...colon])
            local = String(local[local.index(after: colon)...])
        }
        guard local == ElementKind.presentation.rawValue else {
            error = .notAManifest(root: String(name.local.prefix(100)))
            return false
        }
        if name.namespace != Self.namespace {
            let spelled = name.namespace.isEmpty ? "missing" : "“\(name.namespace.prefix(100))”"
            report(.warning, .foreignNamespace, "the namespace is \(spelled), not \(Self.namespace)", "5.2.2", line)
        }
        return true
    }

    // MARK: Timelines

    /// The attributes of an `S` element, in the order of the columns of a table.
    static let numberElement: XMLNumberElement? = XMLNumberElement("S", attributes: ["t", "d", "r", "n", "k"])

    mutating func handleNumbers(_ table: XMLNumberTable, of name: XMLName, line: Int) -> Bool {
        guard entryDepth == 0, isInTimeline, kind(of: name) == .timelineEntry else { return false }
        guard checkEntryCount(adding: table.count, line: line) else { return true }
        let values = table.values
        entries.reserveCapacity(entries.count + table.count)
        var first = 0
        while first + 4 < values.count {
            let (time, duration, repeatCount) = (values[first], values[first + 1], values[first + 2])
            let (number, sequenceCount) = (values[first + 3], values[first + 4])
            first += 5
            // Invalid numbers need a diagnostic, and only repetitions may be negative.
            guard duration >= 0, Self.isValid(time), Self.isValid(number), Self.isValid(sequenceCount) else {
                return false
            }
            entries.append(
                TimelineEntry(
                    time: time < 0 ? nil : time,
                    duration: duration,
                    repeatCount: repeatCount == XMLNumberTable.missing ? 0 : repeatCount,
                    number: number < 0 ? nil : number,
                    sequenceCount: max(1, sequenceCount)
                )
            )
        }
        return true
    }

    /// Returns a Boolean value that indicates whether the number of an optional attribute is missing, 0 or more.
    private static func isValid(_ number: Int64) -> Bool { number >= 0 || number == XMLNumberTable.missing }

    private mutating func checkEntryCount(adding count: Int, line: Int) -> Bool {
        entryCount += count
        memorySize +|= count *| MemoryLayout<TimelineEntry>.stride
        guard entryCount <= limits.timelineEntryCount else {
            error = .tooLarge(message: "there are more than \(limits.timelineEntryCount) S elements", line: line)
            return false
        }
        return true
    }

    private mutating func append(_ entry: TimelineEntry, line: Int) {
        guard checkEntryCount(adding: 1, line: line) else { return }
        entries.append(entry)
    }

    /// Adds the entries that were read to the element that contains them.
    private mutating func storeEntries() {
        guard !entries.isEmpty, let last = open.indices.last else { return }
        if open[last].timeline.isEmpty { open[last].timeline = entries } else { open[last].timeline += entries }
        entries = []
    }

    private mutating func readTimelineEntry(_ attributes: XMLAttributes, line: Int) {
        var entry = TimelineEntry(duration: -1)
        for attribute in attributes.attributes where attribute.name.namespace.isEmpty {
            let number = ManifestNumber.integer(attribute.value)
            switch attribute.name.local {
            case "t": entry.time = number
            case "d": entry.duration = number ?? -1
            case "r": entry.repeatCount = number ?? 0
            case "n": entry.number = number
            case "k": entry.sequenceCount = max(1, number ?? 1)
            default:
                report(.note, .unknownAttribute, "S has no attribute \(attribute.name.local)", "5.3.9.6", line)
                continue
            }
            let mayBeNegative = attribute.name.local == "r"
            if number == nil || !mayBeNegative && (number ?? 0) < 0 {
                reportInvalid(attribute.name.local, attribute.value, of: "S", section: "5.3.9.6", line: line)
            }
        }
        if entry.duration < 0 {
            report(.error, .missingAttribute, "S has no attribute d, so it has no segments", "5.3.9.6", line)
            entry.duration = 0
        }
        append(entry, line: line)
    }

    // MARK: Checks

    private mutating func check(_ element: ManifestElement, in parent: ManifestElement?) {
        guard let kind = element.kind else { return checkExtension(element, in: parent) }
        let definition = kind.definition
        if let parentKind = parent?.kind, !parentKind.definition.children.contains(kind),
            !parentKind.definition.isOpen
        {
            let message = "\(kind.rawValue) does not belong in \(parentKind.rawValue)"
            report(.warning, .misplacedElement, message, definition.section, element.line)
        }
        for attribute in definition.attributes {
            guard let value = element[attribute.name] else {
                if attribute.isRequired {
                    let message = "\(kind.rawValue) has no attribute \(attribute.name.rawValue)"
                    report(.error, .missingAttribute, message, definition.section, element.line)
                }
                continue
            }
            if !attribute.type.accepts(value) {
                reportInvalid(
                    attribute.name.rawValue,
                    value,
                    of: kind.rawValue,
                    section: definition.section,
                    line: element.line
                )
            } else if attribute.type == .duration, let duration = ManifestDuration(value) {
                check(duration, value, of: attribute.name, in: definition.section, line: element.line)
            } else if attribute.type == .dateTime, ManifestDate(value)?.hasTimeZone == false {
                let message = "\(attribute.name.rawValue) has no time zone, so it counts as UTC"
                report(.warning, .missingTimeZone, message, definition.section, element.line)
            }
        }
        for attribute in element.attributes where attribute.name.namespace.isEmpty {
            let local = attribute.name.local
            if local.contains(":") {
                reportUndeclaredPrefix(of: local, line: element.line)
            } else if AttributeName(rawValue: local).flatMap({ definition.attribute($0) }) == nil {
                let message = "\(kind.rawValue) has no attribute \(local.prefix(100)) in the standard"
                report(.note, .unknownAttribute, message, definition.section, element.line)
            }
        }
    }

    /// Reports a duration that is negative, so that it is ignored, or that has units of varying length.
    private mutating func check(
        _ duration: ManifestDuration,
        _ value: String,
        of name: AttributeName,
        in section: String,
        line: Int
    ) {
        if duration.time < .zero {
            let message = "\(name.rawValue) has the negative duration “\(value.prefix(100))”, which is ignored"
            report(.error, .negativeDuration, message, section, line)
        }
        if duration.hasCalendarUnits {
            let message = "\(name.rawValue) has years or months, which count as 365 and 30 days"
            report(.warning, .calendarDuration, message, section, line)
        }
    }

    /// Reports an element that the standard does not define, unless it belongs to an extension namespace.
    private mutating func checkExtension(_ element: ManifestElement, in parent: ManifestElement?) {
        guard element.name.namespace.isEmpty || element.name.namespace == rootNamespace else { return }
        if element.name.local.contains(":") {
            reportUndeclaredPrefix(of: element.name.local, line: element.line)
        } else if let kind = parent?.kind, !kind.definition.isOpen {
            let message = "\(kind.rawValue) has no element \(element.name.local.prefix(100)) in the standard"
            report(.note, .unknownElement, message, kind.definition.section, element.line)
        }
    }

    private mutating func reportUndeclaredPrefix(of name: String, line: Int) {
        guard !hasNamedUndeclaredPrefix else { return }
        hasNamedUndeclaredPrefix = true
        report(.warning, .undeclaredPrefix, "the prefix of \(name.prefix(100)) is not declared", "5.2.2", line)
    }

    private mutating func reportInvalid(_ name: String, _ value: String, of element: String, section: String, line: Int)
    {
        let message = "\(name) of \(element) has the invalid value “\(value.prefix(100))”"
        report(.error, .invalidValue, message, section, line)
    }

    private mutating func report(
        _ severity: ManifestDiagnostic.Severity,
        _ code: ManifestRule,
        _ message: String,
        _ section: String,
        _ line: Int
    ) {
        guard diagnostics.count < limits.diagnosticCount else {
            omittedCount += 1
            return
        }
        diagnostics.append(
            ManifestDiagnostic(line: line, severity: severity, code: code, message: message, section: section)
        )
    }
}
