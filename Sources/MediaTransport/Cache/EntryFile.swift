/// A file of the cache, identified by the name of its entry and a random number.
///
/// Files are never overwritten: a new body for the same key is a new file.
struct EntryFile: Sendable, Hashable {
    let name: EntryName
    let serial: UInt64

    private static let prefix = "millstream"
    private static let completeSuffix = ".entry"
    private static let partialSuffix = ".part"

    /// The file name of a complete entry.
    var fileName: String { stem + Self.completeSuffix }
    /// The file name while the entry is being written.
    var partialFileName: String { stem + Self.partialSuffix }

    private var stem: String {
        "\(Self.prefix)-\(Self.hexadecimal(name.high))\(Self.hexadecimal(name.low))-\(Self.hexadecimal(serial))"
    }

    /// Creates a file for an entry.
    init(name: EntryName, serial: UInt64 = .random(in: .min ... .max)) {
        self.name = name
        self.serial = serial
    }

    /// Creates an instance from the file name of a complete entry; `nil` for files that do not belong to the cache.
    init?(fileName: String) {
        guard let file = Self(fileName, suffix: Self.completeSuffix) else { return nil }
        self = file
    }

    /// Returns a Boolean value that indicates whether a file name is that of an entry that was being written.
    static func isPartial(_ fileName: String) -> Bool { Self(fileName, suffix: partialSuffix) != nil }

    private init?(_ fileName: String, suffix: String) {
        guard fileName.hasSuffix(suffix) else { return nil }
        let parts = fileName.dropLast(suffix.count).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == Self.prefix, parts[1].utf8.count == 32,
            let high = Self.number(parts[1].prefix(16)), let low = Self.number(parts[1].suffix(16)),
            let serial = Self.number(parts[2])
        else { return nil }
        self.init(name: EntryName(high: high, low: low), serial: serial)
    }

    private static func hexadecimal(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    private static func number(_ digits: Substring) -> UInt64? {
        let isDigit: (UInt8) -> Bool = { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
        return digits.utf8.count == 16 && digits.utf8.allSatisfy(isDigit) ? UInt64(digits, radix: 16) : nil
    }
}
