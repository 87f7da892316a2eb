/// A line with the values of an entry, and the names of their fields.
struct ExtendedLogEntry {
    /// The line number, starting at 1.
    let line: Int
    /// The names of the fields, in lowercase.
    let fields: [String]
    /// The values; `nil` if a value is unknown.
    let texts: [String?]

    /// The known values with their fields; if a field name occurs several times, the first one counts.
    var values: [(name: String, value: String)] {
        var result: [(String, String)] = []
        var seen = Set<String>()
        for (name, text) in zip(fields, texts) where seen.insert(name).inserted {
            if let text { result.append((name, text)) }
        }
        return result
    }

    /// Returns the time in the fields `date` and `time`, or `nil` without a date.
    ///
    /// - Throws: ``ExtendedLogError`` if they are invalid.
    func timeSince1970() throws(ExtendedLogError) -> Duration? {
        guard let date = self["date"] else { return nil }
        guard let moment = CalendarDate.timeSince1970(date: date, time: self["time"]) else {
            throw ExtendedLogError(code: .malformedValue, line: line, field: "date")
        }
        return moment
    }

    private subscript(name: String) -> String? {
        fields.firstIndex(of: name).flatMap { texts[$0] }
    }

    /// Returns the first values of a line without a line terminator, or `nil` if quotation marks are not balanced.
    static func values(of line: Span<UInt8>, maximumCount limit: Int, hasEscapes: Bool) -> [String?]? {
        var values: [String?] = []
        var index = 0
        while values.count < limit {
            while index < line.count, isSpace(line[index]) { index += 1 }
            guard index < line.count else { break }
            if line[index] == UInt8(ascii: "\"") {
                guard let (bytes, end) = quotedText(in: line, after: index) else { return nil }
                values.append(String(decoding: hasEscapes ? ExtendedLogText.unescape(bytes) : bytes, as: UTF8.self))
                index = end
            } else {
                var bytes: [UInt8] = []
                while index < line.count, !isSpace(line[index]) {
                    bytes.append(line[index])
                    index += 1
                }
                let word = String(decoding: bytes, as: UTF8.self)
                values.append(word == ExtendedLogText.unknown ? nil : word)
            }
        }
        return values
    }

    /// Returns the bytes between quotation marks and the index after them, or `nil` without a closing quotation mark.
    private static func quotedText(in line: Span<UInt8>, after start: Int) -> ([UInt8], Int)? {
        var bytes: [UInt8] = []
        var index = start + 1
        while index < line.count {
            if line[index] != UInt8(ascii: "\"") {
                bytes.append(line[index])
                index += 1
            } else if index + 1 < line.count, line[index + 1] == UInt8(ascii: "\"") {
                bytes.append(UInt8(ascii: "\""))
                index += 2
            } else {
                return index + 1 == line.count || isSpace(line[index + 1]) ? (bytes, index + 1) : nil
            }
        }
        return nil
    }

    static func isSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
    }
}
