import MediaTiming

extension Playlist {
    /// A tag that defines a variable whose value comes from outside of the playlist and is known: from the multivariant
    /// playlist, or from the query of the URL (RFC 8216bis §4.4.2.3).
    package struct ExternalVariable: Sendable, Hashable {
        /// The name of the variable.
        package let name: String
        /// The value of the variable.
        package let value: String
        /// A Boolean value that indicates whether the value comes from the multivariant playlist.
        package let isImported: Bool
        /// A Boolean value that indicates whether an earlier tag has the same name, so that a definition would be
        /// another one of the variable.
        package let isRepeated: Bool
        /// The range of the line, including its line ending.
        package let line: Range<Int>
        /// The range of the tag, without white space at both ends.
        package let text: Range<Int>

        /// The tag that defines the variable with its value, for a playlist that is used without its multivariant
        /// playlist or at another URL.
        package var definition: String { "#EXT-X-DEFINE:NAME=\"\(name)\",VALUE=\"\(value)\"" }

        /// Adds a change to a patch that replaces the tag with the definition, or removes a repeated one.
        package func define(in patch: inout PlaylistPatch) {
            if isRepeated { patch.remove(line) } else { patch.replace(text, with: definition) }
        }
    }

    /// The variables with values from outside of the playlist whose tags can be replaced by definitions, in order.
    ///
    /// A variable is left out if its value is not known, or if a definition would give it another value: a quoted
    /// string cannot contain quotation marks and control characters, and a reference to a variable would be replaced
    /// in it.
    ///
    /// - Complexity: O(*n*) in the number of tags.
    package var externalVariables: [ExternalVariable] {
        let bytes = bytes
        let (index, variables) =
            switch self {
            case .multivariant(let playlist): (playlist.index, playlist.definedVariables)
            case .media(let playlist): (playlist.index, playlist.header.variables)
            }
        guard !variables.values.isEmpty else { return [] }
        var result: [ExternalVariable] = []
        var names: Set<String> = []
        for record in index.tags where record.tag == .define {
            guard let tag = bytes.tagLine(at: Int(record.lineStart)), let range = tag.value else { continue }
            let attributes = AttributeList(bytes, in: range)
            let imported = attributes["IMPORT"]
            guard attributes["NAME"] == nil, let name = imported ?? attributes["QUERYPARAM"],
                name == WrittenText.quoted(name), let value = variables.values[name],
                value == WrittenText.quoted(value), !value.contains("{$")
            else { continue }
            result.append(
                ExternalVariable(
                    name: name,
                    value: value,
                    isImported: imported != nil,
                    // A long value is not written for each of many tags.
                    isRepeated: !names.insert(name).inserted,
                    line: tag.line.range,
                    text: tag.line.trimmed(in: bytes.span)
                )
            )
        }
        return result
    }

    /// The names of the variables to which the text of the playlist refers, such as `name` in `{$name}`.
    ///
    /// Names that are longer than those of variables can be are left out.
    ///
    /// - Complexity: O(*n*) in the size of the playlist.
    package var referencedVariables: Set<String> {
        let bytes = bytes
        let span = bytes.span
        var names: Set<String> = []
        var position = 0
        while let close = span.firstIndex(of: UInt8(ascii: "}"), in: position..<span.count) {
            // The bytes since the previous brace are read backward at most once.
            let first = max(position, close -| 2 -| PlaylistVariables.maximumNameLength)
            var open = close - 2
            while open >= first {
                if span[open] == UInt8(ascii: "{"), span[open + 1] == UInt8(ascii: "$") {
                    names.insert(bytes.text(open + 2..<close))
                    break
                }
                open -= 1
            }
            position = close + 1
        }
        return names
    }
}
