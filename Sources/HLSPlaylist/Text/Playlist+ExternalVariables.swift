import MediaTiming

extension Playlist {
    /// A tag that defines a variable whose value comes from outside of the playlist: from the multivariant playlist, or
    /// from the query of the URL (RFC 8216bis §4.4.2.3).
    package struct ExternalVariable: Sendable, Hashable {
        /// The name of the variable.
        package let name: String
        /// The value of the variable; `nil` if it is not known.
        package let value: String?
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
        package var definition: String { "#EXT-X-DEFINE:NAME=\"\(name)\",VALUE=\"\(value ?? "")\"" }

        /// A Boolean value that indicates whether the definition has the same name and value when it is read again.
        ///
        /// A quoted string cannot contain quotation marks and control characters, and a reference to a variable would
        /// be replaced in it.
        package var isWritable: Bool {
            guard let value else { return false }
            return name == WrittenText.quoted(name) && value == WrittenText.quoted(value) && !value.contains("{$")
        }

        /// Adds a change to a patch that replaces the tag with the definition, or removes a repeated one.
        package func define(in patch: inout PlaylistPatch) {
            if isRepeated { patch.remove(line) } else { patch.replace(text, with: definition) }
        }
    }

    /// The variables with values from outside of the playlist whose tags can be replaced by definitions, in order.
    ///
    /// A variable is left out if its value is not known, or if a definition would give it another value; see
    /// ``unwritableVariables``.
    ///
    /// - Complexity: O(*n*) in the number of tags.
    package var externalVariables: [ExternalVariable] { externalDefinitions.filter(\.isWritable) }

    /// The tags of all variables with values from outside of the playlist, in order.
    ///
    /// - Complexity: O(*n*) in the number of tags.
    package var externalDefinitions: [ExternalVariable] {
        let bytes = bytes
        let (index, variables) =
            switch self {
            case .multivariant(let playlist): (playlist.index, playlist.definedVariables)
            case .media(let playlist): (playlist.index, playlist.header.variables)
            }
        var result: [ExternalVariable] = []
        var names: Set<String> = []
        for record in index.tags where record.tag == .define {
            guard let tag = bytes.tagLine(at: Int(record.lineStart)), let range = tag.value else { continue }
            let attributes = AttributeList(bytes, in: range)
            let imported = attributes["IMPORT"]
            guard attributes["NAME"] == nil, let name = imported ?? attributes["QUERYPARAM"] else { continue }
            result.append(
                ExternalVariable(
                    name: name,
                    value: variables.values[name],
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
    package var referencedVariables: Set<String> { referencedVariables(in: 0..<bytes.count) }

    /// Returns the names of the variables to which a range of the text refers; see ``referencedVariables``.
    package func referencedVariables(in range: Range<Int>) -> Set<String> {
        let bytes = bytes
        let span = bytes.span
        var names: Set<String> = []
        var position = range.lowerBound
        while let close = span.firstIndex(of: UInt8(ascii: "}"), in: position..<range.upperBound) {
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

    /// Variables with values that no definition can have, such as one with a quotation mark, so that references to them
    /// can only be replaced.
    package struct UnwritableVariables: Sendable {
        /// The names of the variables.
        package fileprivate(set) var names: Set<String>
        /// The ranges of the lines that define them, including their line endings.
        package fileprivate(set) var lines: [Range<Int>] = []
    }

    /// The variables with known values from outside of the playlist that no definition can have, and those whose
    /// definitions refer to them; `nil` if there are none.
    ///
    /// - Complexity: O(*n*) in the number of tags.
    package var unwritableVariables: UnwritableVariables? {
        let external = externalDefinitions.filter { $0.value != nil && !$0.isWritable }
        guard !external.isEmpty else { return nil }
        var result = UnwritableVariables(names: Set(external.map(\.name)), lines: external.map(\.line))
        for entry in tagEntries where entry.tag == .define {
            let attributes = attributes(of: entry)
            guard let name = attributes["NAME"], let value = attributes.attribute("VALUE"),
                !referencedVariables(in: value.range).isDisjoint(with: result.names)
            else { continue }
            result.names.insert(name)
            result.lines.append(entry.line)
        }
        return result
    }

    /// Returns the first tag whose attributes, other than URIs, refer to one of some variables; `nil` if there is none.
    ///
    /// - Parameters:
    ///   - names: The names of the variables.
    ///   - addresses: The URIs of the playlist that refer to them.
    /// - Returns: The name of the variable, and that of the tag.
    package func reference(
        to names: Set<String>,
        except addresses: [PlaylistAddress]
    ) -> (variable: String, tag: String)? {
        let starts = Set(addresses.map(\.range.lowerBound))
        for entry in tagEntries {
            guard let tag = entry.tag, tag != .define, tag.definition.attributes != nil else { continue }
            for attribute in attributes(of: entry).attributes where !starts.contains(attribute.range.lowerBound) {
                let found = referencedVariables(in: attribute.range).intersection(names)
                if let name = found.min() { return (name, entry.name) }
            }
        }
        return nil
    }

    private func attributes(of entry: TagEntry) -> AttributeList {
        // The name follows a number sign, and a colon follows the name.
        let start = min(entry.text.lowerBound +| entry.name.utf8.count +| 2, entry.text.upperBound)
        return AttributeList(bytes, in: start..<entry.text.upperBound)
    }
}

extension MultivariantPlaylist {
    /// Verifies that the URL has each parameter that a variable of the playlist needs, without which a client must not
    /// play it (RFC 8216bis §4.4.2.3).
    ///
    /// The parser accepts such a playlist, so that it can be inspected and validated. A playlist whose URL is not known
    /// is not verified.
    ///
    /// - Throws: ``PlaylistParsingError/missingQueryParameter(_:)``.
    package func checkParameters() throws(PlaylistParsingError) {
        guard context.address != nil, let name = definedVariables.missingParameter else { return }
        throw .missingQueryParameter(name)
    }
}
