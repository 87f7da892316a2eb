import SeededRandomness

/// A kind of damage to the bytes of a playlist, such as transport errors, text editors and attackers cause.
enum Mutation: CaseIterable {
    case flipBits, delete, duplicate, truncate, swapLines, splice, insertControlBytes, lengthenLine, enlargeNumber
    case changeLineEnd

    /// Returns the bytes after one to four random mutations.
    ///
    /// - Parameters:
    ///   - bytes: A playlist; of a playlist longer than 16 KiB, a random part of that size is used.
    ///   - other: The playlist whose parts are spliced in.
    ///   - generator: The source of randomness.
    /// - Returns: The damaged playlist, at most a few KiB longer.
    static func damaged(
        _ bytes: [UInt8],
        splicing other: [UInt8],
        using generator: inout SeededGenerator
    ) -> [UInt8] {
        var result = bytes
        if result.count > longest {
            let start = Int.random(in: 0...(result.count - longest), using: &generator)
            result = Array(result[start..<(start + longest)])
        }
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
            guard let mutation = allCases.randomElement(using: &generator) else { break }
            mutation.apply(to: &result, splicing: other, using: &generator)
        }
        return result
    }

    /// The maximum size of the input of a mutation, in bytes; larger mutants take more time than they are worth.
    private static let longest = 16 << 10

    private func apply(to bytes: inout [UInt8], splicing other: [UInt8], using generator: inout SeededGenerator) {
        let stretch = Self.stretch(of: bytes, using: &generator)
        switch self {
        case .flipBits:
            for _ in 0..<Int.random(in: 1...8, using: &generator) where !bytes.isEmpty {
                let position = Int.random(in: 0..<bytes.count, using: &generator)
                bytes[position] ^= UInt8.random(in: 1...255, using: &generator)
            }
        case .delete: bytes.removeSubrange(stretch)
        case .duplicate: bytes.insert(contentsOf: Array(bytes[stretch]), at: stretch.upperBound)
        case .truncate: bytes.removeLast(bytes.count - stretch.lowerBound)
        case .swapLines: Self.swapLines(of: &bytes, using: &generator)
        case .splice: bytes.replaceSubrange(stretch, with: other[Self.stretch(of: other, using: &generator)])
        case .insertControlBytes:
            let count = Int.random(in: 1...12, using: &generator)
            let controls = (0..<count).map { _ in Self.controls.randomElement(using: &generator) ?? 0 }
            bytes.insert(contentsOf: controls, at: stretch.lowerBound)
        case .lengthenLine:
            let filler = Self.fillers.randomElement(using: &generator) ?? "a"
            let count = Int.random(in: 100...4_000, using: &generator)
            bytes.insert(contentsOf: Array(String(repeating: filler, count: count).utf8), at: stretch.lowerBound)
        case .enlargeNumber: Self.enlargeNumber(in: &bytes, using: &generator)
        case .changeLineEnd:
            guard let feed = bytes[stretch.lowerBound...].firstIndex(of: UInt8(ascii: "\n")) else { return }
            bytes.replaceSubrange(
                feed...feed,
                with: Array(["\r", "\r\n", "", " ", "\n\r"].randomElement(using: &generator)?.utf8 ?? "".utf8)
            )
        }
    }

    private static let controls: [UInt8] = [0, 7, 9, 11, 12, 13, 26, 27, 127, 0x80, 0xC0, 0xE2, 0xEF, 0xFF]
    private static let lineEnds = ["\r", "\r\n", "", " ", "\n\r"]
    private static let fillers = [
        "a", "9", ",", "=", "\"", " ", "{$", "#EXT", "A=\"b\",", "\u{FEFF}", "../", ":", "\r",
    ]
    private static let numbers = [
        "9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616", "-1", "+1", "1e9",
        "999999999999999999", "0.000000000000000001", "1.0000000000000000000000001", "NaN", "00000000000000000000007",
        "4294967296", "1152921504606846976",
    ]

    /// Returns a random range of at most 16 bytes or, as often, at most 2,000 bytes.
    private static func stretch(of bytes: [UInt8], using generator: inout SeededGenerator) -> Range<Int> {
        let start = Int.random(in: 0...bytes.count, using: &generator)
        let most = Bool.random(using: &generator) ? 16 : 2_000
        return start..<min(start + Int.random(in: 0...most, using: &generator), bytes.count)
    }

    private static func swapLines(of bytes: inout [UInt8], using generator: inout SeededGenerator) {
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        lines.swapAt(
            Int.random(in: lines.indices, using: &generator),
            Int.random(in: lines.indices, using: &generator)
        )
        bytes = Array(lines.joined(separator: [UInt8(ascii: "\n")]))
    }

    /// Replaces one of the numbers in the playlist with a value at or beyond the limits of integer and decimal types.
    private static func enlargeNumber(in bytes: inout [UInt8], using generator: inout SeededGenerator) {
        func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
        let start = Int.random(in: 0...bytes.count, using: &generator)
        guard let first = bytes[start...].firstIndex(where: isDigit) else { return }
        let end = bytes[first...].firstIndex { !isDigit($0) } ?? bytes.endIndex
        bytes.replaceSubrange(first..<end, with: Array((numbers.randomElement(using: &generator) ?? "").utf8))
    }
}
