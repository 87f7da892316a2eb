import HLSPlaylist

/// A playlist with a single change.
struct Perturbation {
    /// The line, counted from 1, and the change.
    let name: String
    let text: String

    /// The kinds of changes to make.
    struct Kinds: OptionSet {
        let rawValue: Int
        /// A line is removed, duplicated, or swapped with the next.
        static let lines = Kinds(rawValue: 1)
        /// An attribute is removed, duplicated, or given another value.
        static let attributes = Kinds(rawValue: 2)
        /// A tag value that is not an attribute list is replaced.
        static let values = Kinds(rawValue: 4)
        /// A number is incremented or decremented by one in its last digit.
        static let numbers = Kinds(rawValue: 8)
        /// A line is removed.
        static let omissions = Kinds(rawValue: 16)
    }

    /// Returns the playlists that differ from the given playlist by one change.
    ///
    /// - Parameters:
    ///   - text: The playlist.
    ///   - kinds: The changes.
    ///   - chosen: The lines to change, counted from 1; all lines if `nil`.
    /// - Returns: The changed playlists, in the order of the lines.
    static func all(of text: String, _ kinds: Kinds, lines chosen: Set<Int>? = nil) -> [Perturbation] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        var result: [Perturbation] = []
        // Only the first occurrence of a repeated attribute or value is changed.
        var seen: Set<String> = []
        for (index, line) in lines.enumerated() where chosen?.contains(index + 1) ?? true {
            func add(_ name: String, _ changed: [String]) {
                let all = lines[..<index] + changed + lines[(index + 1)...]
                result.append(Perturbation(name: "\(index + 1) \(name)", text: all.joined(separator: "\n")))
            }
            if !kinds.isDisjoint(with: [.lines, .omissions]), !line.isEmpty { add("skipped", []) }
            if kinds.contains(.lines), !line.isEmpty {
                add("twice", [line, line])
                if index + 1 < lines.count, !lines[index + 1].isEmpty {
                    var swapped = lines
                    swapped.swapAt(index, index + 1)
                    result.append(
                        Perturbation(name: "\(index + 1) after the next", text: swapped.joined(separator: "\n"))
                    )
                }
            }
            guard line.hasPrefix("#EXT"), let colon = line.firstIndex(of: ":") else { continue }
            let tag = String(line[...colon])
            let value = String(line[line.index(after: colon)...])
            let written = AttributeList(Array(value.utf8), in: 0..<value.utf8.count).attributes
            if value.contains("="), written.allSatisfy({ !$0.name.isEmpty }), !tag.hasPrefix("#EXTINF") {
                addAttributes(of: value, written, kinds) { change, attribute, changed in
                    guard kinds.isDisjoint(with: [.attributes, .values]) || !seen.contains(tag + attribute) else {
                        return
                    }
                    add(change, [tag + changed])
                }
                seen.formUnion(written.map { tag + $0.name })
            } else if kinds.isDisjoint(with: [.attributes, .values]) || seen.insert(tag).inserted {
                for other in others(value, kinds.contains(.values) ? kinds : kinds.intersection(.numbers)) {
                    add("'\(other)'", [tag + other])
                }
                if kinds.contains(.values) { add("no value", [String(tag.dropLast())]) }
            }
        }
        return result
    }

    private static func addAttributes(
        of value: String,
        _ written: [AttributeList.Attribute],
        _ kinds: Kinds,
        _ add: (_ change: String, _ attribute: String, _ changed: String) -> Void
    ) {
        let spelled = written.map { "\($0.name)=" + ($0.isQuoted ? "\"\($0.value)\"" : $0.value) }
        for (position, attribute) in written.enumerated() {
            func replaced(_ other: String?) -> String {
                (spelled[..<position] + [other].compactMap { $0 } + spelled[(position + 1)...]).joined(separator: ",")
            }
            if kinds.contains(.attributes) {
                add("no \(attribute.name)", attribute.name, replaced(nil))
                add("\(attribute.name) twice", attribute.name, value + "," + spelled[position])
                let other = attribute.isQuoted ? attribute.value : "\"\(attribute.value)\""
                add("\(attribute.name)=\(other)", attribute.name, replaced("\(attribute.name)=\(other)"))
            }
            // Digits in URIs and initialization vectors have no meaning for a rule.
            if !kinds.contains(.attributes), ["URI", "IV"].contains(attribute.name) { continue }
            for other in others(attribute.value, kinds.contains(.attributes) ? [.values] : kinds) {
                let text = attribute.isQuoted ? "\"\(other)\"" : other
                add("\(attribute.name)=\(text)", attribute.name, replaced("\(attribute.name)=\(text)"))
            }
        }
    }

    /// Returns replacements for a value.
    private static func others(_ value: String, _ kinds: Kinds) -> [String] {
        var result = numbers(near: value)
        if kinds.contains(.values) {
            result += ["", "x", value.lowercased(), value + ",Y"]
            if value.first?.isNumber == true { result += ["0", "-" + value, value + "x"] }
        }
        var seen: Set<String> = [value]
        return result.filter { seen.insert($0).inserted }
    }

    /// Returns copies of the text in which one number is incremented or decremented by one in its last digit.
    private static func numbers(near value: String) -> [String] {
        let bytes = Array(value.utf8)
        var result: [String] = []
        var index = 0
        while index < bytes.count {
            let start = index
            while index < bytes.count, (0x30...0x39).contains(bytes[index]) { index += 1 }
            guard index > start, let number = Int(String(decoding: bytes[start..<index], as: UTF8.self)) else {
                index += 1
                continue
            }
            for other in [number - 1, number + 1] where other >= 0 {
                let digits = String(other)
                let padding = String(repeating: "0", count: max(0, index - start - digits.count))
                result.append(
                    String(decoding: bytes[..<start], as: UTF8.self) + padding + digits
                        + String(decoding: bytes[index...], as: UTF8.self)
                )
            }
        }
        return result
    }
}
