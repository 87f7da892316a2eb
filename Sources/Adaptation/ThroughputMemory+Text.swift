extension ThroughputMemory {
    /// The stored estimates as text for a file, with one line for each network, the most recent first.
    ///
    /// A line consists of the name, a tab, the bits per second, a tab, the seconds since 1970-01-01T00:00:00Z and a
    /// line feed. Both numbers are decimal. In names, a backslash is written as `\\`, a tab as `\t`, a line feed as
    /// `\n` and a carriage return as `\r`.
    public var text: String {
        var result = ""
        for name in namesByAge {
            guard let entry = entries[name] else { continue }
            result += "\(Self.escape(name))\t\(entry.bitsPerSecond)\t\(entry.secondsSince1970)\n"
        }
        return result
    }

    /// Creates a memory from the format that ``text`` writes.
    ///
    /// Invalid lines are skipped, so that a damaged file loses only these lines. If several lines have the same
    /// network, the most recent counts. A carriage return at the end of a line is allowed.
    ///
    /// - Complexity: O(*n*) in the length of the text.
    public init(text: String) {
        self.init()
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            guard let (name, entry) = Self.parse(line) else { continue }
            if let known = entries[name], known.secondsSince1970 >= entry.secondsSince1970 { continue }
            insert(entry, for: name)
            // Limits the memory for files of any length.
            if entries.count >= 2 * Self.maximumNetworkCount { removeOldest() }
        }
        removeOldest()
    }

    private static func parse(_ line: Substring.UTF8View) -> (String, Entry)? {
        let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
        let fields = line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
        guard fields.count == 3,
            let name = unescape(fields[0]),
            let bitsPerSecond = Int64(Substring(fields[1])),
            let seconds = Int64(Substring(fields[2]))
        else { return nil }
        return (name, Entry(bitsPerSecond: bitsPerSecond, secondsSince1970: seconds))
    }

    private static func escape(_ name: String) -> String {
        var bytes: [UInt8] = []
        for byte in name.utf8 {
            if let letter = escapes.first(where: { $0.byte == byte })?.letter {
                bytes += [UInt8(ascii: "\\"), letter]
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the name in an escaped field, or `nil` if a backslash precedes a character that has no escape sequence.
    private static func unescape(_ field: Substring.UTF8View) -> String? {
        var bytes: [UInt8] = []
        var isEscaped = false
        for byte in field {
            if isEscaped {
                guard let plain = escapes.first(where: { $0.letter == byte })?.byte else { return nil }
                bytes.append(plain)
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else {
                bytes.append(byte)
            }
        }
        return isEscaped ? nil : String(decoding: bytes, as: UTF8.self)
    }

    private static let escapes: [(byte: UInt8, letter: UInt8)] = [
        (UInt8(ascii: "\\"), UInt8(ascii: "\\")), (UInt8(ascii: "\t"), UInt8(ascii: "t")),
        (UInt8(ascii: "\n"), UInt8(ascii: "n")), (UInt8(ascii: "\r"), UInt8(ascii: "r")),
    ]
}
