import MediaTiming
import ResourceAddressing

/// An attribute, prepared for validation.
struct InspectedAttribute {
    let name: String
    /// The value as written, without quotation marks.
    let raw: String
    let isQuoted: Bool
    /// The value with variables replaced.
    var value: String
    /// A Boolean value that indicates whether the value is invalid or not known, so that rules about it are not
    /// checked.
    var isUnusable = false
}

/// The attributes of a tag, prepared for validation.
struct InspectedAttributes {
    fileprivate(set) var all: [InspectedAttribute] = []
    /// A Boolean value that indicates whether the list is malformed and could not be parsed completely.
    fileprivate(set) var isMalformed = false

    func attribute(_ name: String) -> InspectedAttribute? { all.first { $0.name == name } }
    func has(_ name: String) -> Bool { attribute(name) != nil }
    func isUnusable(_ name: String) -> Bool { attribute(name)?.isUnusable ?? false }

    /// The value of an attribute, or `nil` if it is missing, invalid or not known.
    subscript(name: String) -> String? { attribute(name).flatMap { $0.isUnusable ? nil : $0.value } }

    /// Returns the number in an attribute whose syntax is a decimal number, or `nil` if it is missing or invalid.
    func decimal(_ name: String) -> MediaTime? { self[name].flatMap { MediaTime(decimal: $0) } }

    /// Returns the number in an attribute whose syntax is an integer, or `nil` if it is missing, invalid or exceeds 63
    /// bits.
    func integer(_ name: String) -> Int64? { self[name].flatMap { Int64($0) } }

    /// Returns the attributes with invalid values of `X-` attributes marked as opaque.
    ///
    /// The value of such an attribute must be a quoted string, a hexadecimal sequence or a decimal number.
    func markingInvalidExtensions() -> InspectedAttributes {
        var result = self
        for index in result.all.indices where result.all[index].name.hasPrefix("X-") && !result.all[index].isQuoted {
            let value = result.all[index].value
            if !Grammar.isHexadecimal(value), !Grammar.isSignedDecimal(value) { result.all[index].isUnusable = true }
        }
        return result
    }

    /// Returns the items of a comma-separated list.
    func list(_ name: String) -> [String] { (self[name] ?? "").split(separator: ",").map(String.init) }
}

/// The rules for attribute lists (RFC 8216bis §4.2, §4.3).
extension PlaylistInspection {
    func attributes(_ line: InspectedLine) -> InspectedAttributes { readAttributes(of: line, noting: false) }

    /// Reads the attributes of a tag.
    ///
    /// - Parameters:
    ///   - line: The line with the tag.
    ///   - notes: Whether to report violations; if so, variables are defined as well.
    /// - Returns: The attributes; of several with the same name, the first.
    func readAttributes(of line: InspectedLine, noting notes: Bool) -> InspectedAttributes {
        guard let tag = line.tag else { return InspectedAttributes() }
        var reader = AttributeListReader(inspection: self, line: line, tag: tag, notes: notes)
        return reader.read()
    }

    /// Checks an attribute of a date range whose class defines its syntax.
    func inspectExtension(
        _ attribute: InspectedAttribute,
        _ definition: AttributeDefinition,
        _ line: InspectedLine
    ) {
        guard !attribute.isUnusable else { return }
        var reader = AttributeListReader(inspection: self, line: line, tag: .dateRange, notes: true)
        var attribute = attribute
        reader.inspect(&attribute, definition)
    }
}

/// A reader of one attribute list.
private struct AttributeListReader {
    let inspection: PlaylistInspection
    let line: InspectedLine
    let tag: TagName
    let notes: Bool
    private var result = InspectedAttributes()
    private var names: Set<String> = []

    init(inspection: PlaylistInspection, line: InspectedLine, tag: TagName, notes: Bool) {
        self.inspection = inspection
        self.line = line
        self.tag = tag
        self.notes = notes
    }

    private func note(_ rule: Rule, _ detail: String? = nil) {
        if notes { inspection.note(rule, line, detail) }
    }

    mutating func read() -> InspectedAttributes {
        split()
        if tag == .define, notes { inspectDefinition() }
        // All attributes of the list share one limit, because a line can contain many of them.
        var growth = inspection.growthLimit
        for index in result.all.indices {
            let attribute = result.all[index]
            let definition = tag.definition.attribute(attribute.name)
            let kind = definition?.kind
            let mayHoldVariables =
                attribute.isQuoted || kind == .hexadecimal
                || kind == nil && (attribute.raw.lowercased().hasPrefix("0x") || attribute.raw.contains("{$"))
            if mayHoldVariables, !(tag == .define && ["NAME", "IMPORT", "QUERYPARAM"].contains(attribute.name)) {
                let (value, isOpaque) = inspection.substitute(
                    attribute.raw,
                    line: line.number,
                    notes: notes,
                    growth: growth
                )
                growth -= min(growth, max(0, value.utf8.count - attribute.raw.utf8.count))
                result.all[index].value = value
                result.all[index].isUnusable = isOpaque
            }
            guard let definition else { continue }
            var inspected = result.all[index]
            inspect(&inspected, definition)
            result.all[index] = inspected
        }
        if tag == .define, notes { define() }
        if !result.isMalformed {
            for definition in tag.definition.attributes ?? [] where !result.has(definition.name) {
                guard let rule = definition.requirement else { continue }
                note(rule, rule == .missingAttribute ? "(\(tag.name): \(definition.name))" : nil)
            }
        }
        return result
    }

    // MARK: Attribute lists

    private mutating func split() {
        let bytes = inspection.bytes
        let (start, end) = (line.value.lowerBound, line.value.upperBound)
        guard start < end else { return }
        var index = start
        while true {
            let nameStart = index
            while index < end, bytes[index] != UInt8(ascii: "="), bytes[index] != UInt8(ascii: ",") { index += 1 }
            if index >= end || bytes[index] == UInt8(ascii: ",") {
                noteBareName(bytes.text(nameStart..<index))
            } else {
                index = readValue(nameStart..<index)
            }
            guard index < end else { return }
            index += 1
            if index >= end {
                note(.emptyAttribute)
                return
            }
        }
    }

    private mutating func noteBareName(_ name: String) {
        if name.allSatisfy({ $0 == " " || $0 == "\t" }) {
            note(.emptyAttribute)
        } else {
            note(.attributeWithoutValue, "(\(name))")
            result.isMalformed = true
        }
    }

    /// Reads the value after an equals sign.
    ///
    /// - Returns: The offset of the comma after the value, or the end of the line.
    private mutating func readValue(_ written: Range<Int>) -> Int {
        let bytes = inspection.bytes
        let end = line.value.upperBound
        var index = written.upperBound + 1
        let name = bytes.span.trimmingBlanks(written)
        var isSpaced = name != written
        while index < end, bytes[index] == UInt8(ascii: " ") {
            isSpaced = true
            index += 1
        }
        var raw: Range<Int>
        let isQuoted = index < end && bytes[index] == UInt8(ascii: "\"")
        if isQuoted {
            let open = index + 1
            let close = bytes.span.firstIndex(of: UInt8(ascii: "\""), in: open..<end)
            if close == nil {
                note(.unclosedQuote)
                result.isMalformed = true
            }
            raw = open..<(close ?? end)
            index = close.map { $0 + 1 } ?? end
            let rest = index
            index = bytes.span.firstIndex(of: UInt8(ascii: ","), in: index..<end) ?? end
            if !bytes.span.trimmingBlanks(rest..<index).isEmpty {
                note(.textAfterQuote)
                result.isMalformed = true
            } else if rest < index {
                isSpaced = true
            }
        } else {
            let rest = index
            index = bytes.span.firstIndex(of: UInt8(ascii: ","), in: index..<end) ?? end
            raw = bytes.span.trimmingBlanks(rest..<index)
            if raw != rest..<index || bytes[raw].contains(UInt8(ascii: " ")) { isSpaced = true }
        }
        if isSpaced { note(.spaceInAttributeList) }
        add(bytes.text(name), bytes.text(raw), isQuoted)
        return index
    }

    private mutating func add(_ name: String, _ raw: String, _ isQuoted: Bool) {
        if !Grammar.isAttributeName(name) { note(.badAttributeName, name.isEmpty ? "(there is none)" : "(\(name))") }
        if !names.insert(name).inserted {
            note(.repeatedAttribute, "(\(name))")
        } else {
            result.all.append(InspectedAttribute(name: name, raw: raw, isQuoted: isQuoted, value: raw))
        }
    }

    // MARK: Values

    mutating func inspect(_ attribute: inout InspectedAttribute, _ definition: AttributeDefinition) {
        let detail = "(\(attribute.name))"
        switch definition.kind {
        case .string, .anyString, .enumeratedList: inspectString(&attribute, definition, detail)
        case .captions:
            if !attribute.isQuoted, attribute.value != "NONE" {
                note(.unquotedString, detail)
                attribute.isUnusable = true
            } else if attribute.isQuoted, !attribute.isUnusable, attribute.value.isEmpty {
                note(.emptyString, detail)
                attribute.isUnusable = true
            }
        case .integer, .hexadecimal, .decimal, .signedDecimal, .enumerated, .resolution:
            if attribute.isQuoted {
                note(.quotedValue, detail)
                attribute.isUnusable = true
            } else if !attribute.isUnusable, !isValidUnquotedValue(attribute, definition) {
                attribute.isUnusable = true
            }
        }
    }

    private func inspectString(
        _ attribute: inout InspectedAttribute,
        _ definition: AttributeDefinition,
        _ detail: String
    ) {
        guard attribute.isQuoted else {
            note(.unquotedString, detail)
            attribute.isUnusable = true
            return
        }
        guard !attribute.isUnusable else { return }
        if attribute.value.isEmpty, definition.kind != .anyString {
            // An empty value means that no layout is required.
            if attribute.name == "REQ-VIDEO-LAYOUT" { return }
            note(.emptyString, detail)
            attribute.isUnusable = true
            return
        }
        if notes, definition.role != nil, let fault = Grammar.authorityFault(attribute.value) {
            note(.invalidURI, "(\(attribute.name): \(fault.rawValue))")
        }
        guard definition.kind == .enumeratedList else { return }
        let words = attribute.value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard words.allSatisfy({ word in !word.isEmpty && !word.contains(where: \.isWhitespace) }) else {
            note(.badEnumeratedList, detail)
            return
        }
        if Set(words).count != words.count { note(.repeatedEnumeratedValue, detail) }
        if let known = definition.words, !Set(words).isSubset(of: known.words) {
            note(known.rule, Self.written(attribute))
        }
    }

    /// Returns an attribute as written, shortened for a message.
    private static func written(_ attribute: InspectedAttribute) -> String {
        let most = 60
        let value = attribute.value.count > most ? attribute.value.prefix(most) + "…" : attribute.value[...]
        return "(\(attribute.name)=\(value))"
    }

    private func isValidUnquotedValue(_ attribute: InspectedAttribute, _ definition: AttributeDefinition) -> Bool {
        let (value, detail) = (attribute.value, Self.written(attribute))
        switch definition.kind {
        case .integer: return inspection.inspectInteger(value, notes ? line.number : nil, detail)
        case .hexadecimal:
            guard Grammar.isHexadecimal(value) else {
                note(.notHexadecimal, detail)
                return false
            }
            if value.dropFirst(2).contains(where: { ("a"..."f").contains($0) }) {
                note(.lowercaseHexadecimal, detail)
            }
        case .decimal:
            if tag == .dateRange, value.hasPrefix("-"), Grammar.isSignedDecimal(value) {
                note(.negativeDuration, detail)
                return false
            }
            guard Grammar.isDecimal(value) else {
                note(.notADecimal, detail)
                return false
            }
        case .signedDecimal:
            guard Grammar.isSignedDecimal(value) else {
                note(.notASignedDecimal, detail)
                return false
            }
        case .resolution:
            guard Grammar.isResolution(value) else {
                note(.badResolution, detail)
                return false
            }
        case .enumerated:
            guard let known = definition.words, !known.words.contains(value) else { return true }
            // `FORMAT` has no meaning for data in the playlist itself.
            if attribute.name == "FORMAT", !result.has("URI") { return true }
            note(known.rule, detail)
            return false
        case .string, .anyString, .enumeratedList, .captions: break
        }
        return true
    }

    // MARK: Definitions

    private var definedNames: [InspectedAttribute] {
        ["NAME", "IMPORT", "QUERYPARAM"].compactMap { result.attribute($0) }
    }

    private func inspectDefinition() {
        guard !result.isMalformed else { return }
        let names = definedNames
        if names.isEmpty { note(.defineWithoutName) }
        if names.count > 1 { note(.defineWithTwoNames) }
        if names.contains(where: { $0.name == "NAME" }), !result.has("VALUE") { note(.defineWithoutValue) }
        for name in names where name.isQuoted && !name.raw.isEmpty && !Grammar.isVariableName(name.raw) {
            note(.badVariableName, "(\(name.raw))")
        }
        if names.contains(where: { $0.name == "IMPORT" }), inspection.kind == .multivariant {
            note(.importInMultivariant)
        }
    }

    private func define() {
        guard let first = definedNames.first else { return }
        var value: String?
        switch first.name {
        case "NAME": value = result.has("VALUE") ? result["VALUE"] : ""
        case "IMPORT":
            if inspection.kind == .media, let imports = inspection.imports {
                if imports[first.raw] == nil { note(.importUndeclared, "(\(first.raw))") }
                value = imports[first.raw] ?? nil
            }
        default: value = queryParameter(first.raw)
        }
        if !inspection.define(first.raw, as: value, line: line.number) { note(.repeatedVariable, "(\(first.raw))") }
    }

    private func queryParameter(_ name: String) -> String? {
        guard let parameters = inspection.queryParameters else { return nil }
        guard let value = parameters[name] ?? nil, !value.isEmpty else {
            note(.queryParameterMissing, "(\(name))")
            return nil
        }
        guard !value.contains(where: { $0.isNewline || $0 == "\"" }) else {
            note(.queryParameterBadValue, "(\(name))")
            return nil
        }
        return value
    }
}
