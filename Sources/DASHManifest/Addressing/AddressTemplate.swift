import MediaTiming

/// A template of URLs, such as `$RepresentationID$/$Number%05d$.m4s` (ISO/IEC 23009-1:2022 §5.3.9.4.4).
package struct AddressTemplate: Sendable, Hashable {
    /// The values that a template inserts.
    package struct Values: Sendable, Hashable {
        /// The identifier of the representation.
        package var representationID: String
        /// The bandwidth of the representation, in bits per second.
        package var bandwidth: Int64
        /// The number of the segment.
        package var number: Int64
        /// The time of the segment, in the units of the timescale.
        package var time: Int64
        /// The number of the segment within its sequence, from 1.
        package var subNumber: Int64

        /// Creates values; those that an initialization segment does not have are 0.
        package init(
            representationID: String,
            bandwidth: Int64,
            number: Int64 = 0,
            time: Int64 = 0,
            subNumber: Int64 = 0
        ) {
            self.representationID = representationID
            self.bandwidth = bandwidth
            self.number = number
            self.time = time
            self.subNumber = subNumber
        }
    }

    /// An identifier between dollar signs.
    enum Identifier: String {
        case representationID = "RepresentationID"
        case number = "Number"
        case bandwidth = "Bandwidth"
        case time = "Time"
        case subNumber = "SubNumber"
    }

    /// A part of a template.
    enum Part: Sendable, Hashable {
        case text(String)
        case value(Identifier, width: Int, radix: Int, isUppercase: Bool)
    }

    /// The constant text and the values, in order.
    let parts: [Part]
    /// A Boolean value that indicates whether all formats of numbers are those of the standard, `%0` and a width.
    ///
    /// Other formats of `printf` are applied, as in other players.
    let hasStandardFormats: Bool
    /// A Boolean value that indicates whether the template has an unknown identifier or a single dollar sign.
    ///
    /// Such text stays as it is, as in other players.
    package let isMalformed: Bool

    /// The maximum width of a number; longer ones are no file names.
    private static let maximumWidth = 64

    /// Creates a template from text.
    package init(_ text: String) {
        var parts: [Part] = []
        var literal = ""
        var isMalformed = false
        var hasStandardFormats = true
        var rest = text[...]
        while let dollar = rest.firstIndex(of: "$") {
            literal += rest[..<dollar]
            rest = rest[rest.index(after: dollar)...]
            guard let end = rest.firstIndex(of: "$") else {
                literal += "$"
                isMalformed = true
                break
            }
            let name = rest[..<end]
            if name.isEmpty {
                literal += "$"
            } else if let part = Self.part(name) {
                if !literal.isEmpty { parts.append(.text(literal)) }
                literal = ""
                parts.append(part)
                hasStandardFormats = hasStandardFormats && Self.hasStandardFormat(name)
            } else {
                // The second dollar sign may begin an identifier that is known.
                literal += "$" + name
                isMalformed = true
                rest = rest[end...]
                continue
            }
            rest = rest[rest.index(after: end)...]
        }
        literal += rest
        if !literal.isEmpty { parts.append(.text(literal)) }
        self.parts = parts
        self.isMalformed = isMalformed
        self.hasStandardFormats = hasStandardFormats
    }

    /// Creates a template from the parts of another one.
    init(parts: [Part]) {
        self.parts = parts
        isMalformed = false
        hasStandardFormats = true
    }

    private static func hasStandardFormat(_ text: Substring) -> Bool {
        guard let percent = text.firstIndex(of: "%") else { return true }
        let format = text[percent...].utf8
        return format.count > 3 && format.starts(with: "%0".utf8) && format.last == UInt8(ascii: "d")
    }

    private static func part(_ text: Substring) -> Part? {
        let pieces = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = pieces.first, let identifier = Identifier(rawValue: String(name)) else { return nil }
        guard pieces.count == 2 else { return .value(identifier, width: 1, radix: 10, isUppercase: false) }
        guard identifier != .representationID, let conversion = pieces[1].last else { return nil }
        let radix: Int
        switch conversion {
        case "d", "i", "u": radix = 10
        case "x", "X": radix = 16
        case "o": radix = 8
        default: return nil
        }
        let digits = pieces[1].dropLast()
        guard digits.isEmpty || digits.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
        let width = digits.isEmpty ? 1 : ManifestNumber.integer(String(digits)) ?? 1
        return .value(
            identifier,
            width: Int(clamping: min(width, Int64(maximumWidth))),
            radix: radix,
            isUppercase: conversion == "X"
        )
    }

    /// A Boolean value that indicates whether each segment has a URL of its own.
    package var distinguishesSegments: Bool {
        parts.contains { part in
            switch part {
            case .text: false
            case .value(let identifier, _, _, _):
                identifier == .number || identifier == .time || identifier == .subNumber
            }
        }
    }

    /// A Boolean value that indicates whether URLs contain the number of the segment.
    package var insertsNumbers: Bool { contains(.number) }

    /// Returns a Boolean value that indicates whether the template contains an identifier.
    func contains(_ identifier: Identifier) -> Bool {
        parts.contains { part in
            switch part {
            case .text: false
            case .value(let found, _, _, _): found == identifier
            }
        }
    }

    /// Returns the URL for the given values.
    package func text(_ values: Values) -> String {
        var result = ""
        for part in parts {
            switch part {
            case .text(let text): result += text
            case .value(let identifier, let width, let radix, let isUppercase):
                let number: Int64
                switch identifier {
                case .representationID:
                    result += values.representationID
                    continue
                case .number: number = values.number
                case .bandwidth: number = values.bandwidth
                case .time: number = values.time
                case .subNumber: number = values.subNumber
                }
                let digits = String(number.magnitude, radix: radix, uppercase: isUppercase)
                if number < 0 { result += "-" }
                if digits.utf8.count < width { result += String(repeating: "0", count: width -| digits.utf8.count) }
                result += digits
            }
        }
        return result
    }
}
