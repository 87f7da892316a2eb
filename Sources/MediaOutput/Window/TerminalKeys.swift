package import MediaTiming

/// A reader of the keys that a terminal sends, with the same meanings as in a window.
package struct TerminalKeys: Sendable {
    /// The keys that terminals send as a sequence of bytes after an escape character.
    private static let sequences: [(bytes: String, key: Key)] = [
        ("[A", .up), ("[B", .down), ("[C", .right), ("[D", .left), ("OA", .up), ("OB", .down), ("OC", .right),
        ("OD", .left), ("[H", .home), ("[F", .end), ("OH", .home), ("OF", .end), ("[1~", .home), ("[4~", .end),
        ("[5~", .pageUp), ("[6~", .pageDown),
    ]

    /// Creates a reader.
    package init() {}

    /// Returns the commands of keys.
    ///
    /// - Parameters:
    ///   - bytes: The bytes that were received together; a terminal sends the bytes of one key at once.
    ///   - range: The playable time range, for keys that seek to a fraction of it.
    /// - Returns: The commands, in order; keys without a meaning have none.
    package func commands(_ bytes: [UInt8], in range: MediaTimeRange?) -> [PlayerCommand] {
        var commands: [PlayerCommand] = []
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            var key: Key?
            if byte == 0x1B {
                if let known = Self.sequences.first(where: { rest.starts(with: $0.bytes.utf8) }) {
                    rest = rest.dropFirst(known.bytes.utf8.count)
                    key = known.key
                } else if rest.first == UInt8(ascii: "[") || rest.first == UInt8(ascii: "O") {
                    // An unknown sequence ends with a letter or a tilde.
                    rest = rest.dropFirst().drop { !(0x40...0x7E).contains($0) }.dropFirst()
                } else {
                    key = .escape
                }
            } else if byte == 0x7F || byte == 0x08 {
                key = .backspace
            } else if (0x20..<0x7F).contains(byte) {
                key = .character(Character(UnicodeScalar(byte)))
            }
            if let key, let command = KeyBindings.command(for: key, in: range) { commands.append(command) }
        }
        return commands
    }
}
