extension ThroughputMemory {
    /// The memory as text for a file: one network a line, the last seen first.
    ///
    /// A line is the name, a tabulator, bits a second, a tabulator, seconds since 1970-01-01T00:00:00Z, a line feed;
    /// both numbers in decimal digits. In names, a backslash is written `\\`, a tabulator `\t`, a line feed `\n` and a
    /// carriage return `\r`.
    public var text: String {
        var result = ""
        for name in namesByAge {
            guard let entry = entries[name] else { continue }
            result += "\(Self.escape(name))\t\(entry.bitsPerSecond)\t\(entry.secondsSince1970)\n"
        }
        return result
    }

    /// Reads what ``text`` wrote.
    ///
    /// Lines that cannot be read are skipped, so that a damaged file costs no more than that.
    /// Of several lines for one network, the newest counts. A carriage return at the end of a line is allowed.
    ///
    /// - Complexity: O(*n*) in the length of the text.
    public init(text: String) {
        self.init()
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            guard let (name, entry) = Self.parse(line) else { continue }
            if let known = entries[name], known.secondsSince1970 >= entry.secondsSince1970 { continue }
            insert(entry, for: name)
            // Now and then, so that a file of any length leaves no more than a few names in memory.
            if entries.count >= 2 * Self.mostNetworks { forgetOldest() }
        }
        forgetOldest()
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

    /// The name that a field says; `nil` where a backslash stands before anything that it does not escape.
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
