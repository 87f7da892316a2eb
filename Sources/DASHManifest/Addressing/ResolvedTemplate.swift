import MediaTiming
import ResourceAddressing

/// A template whose URLs are resolved once for all segments, so that the URL of a segment only inserts its numbers.
package struct ResolvedTemplate: Sendable {
    /// A number and the constant text after it.
    private struct Part: Sendable {
        let identifier: AddressTemplate.Identifier
        let width: Int
        let radix: Int
        let isUppercase: Bool
        var text: [UInt8] = []

        func number(_ entry: SegmentTimes.Entry) -> Int64 {
            switch identifier {
            case .number: entry.number
            case .time: entry.time
            case .subNumber: entry.subNumber
            // Constant values were replaced by text.
            case .representationID, .bandwidth: 0
            }
        }
    }

    /// The constant text before the first number.
    private let beginning: [UInt8]
    private let parts: [Part]
    /// The URL of the segment before.
    private var line = NumberedLine()

    /// Creates a template from one with the values of a representation and its base URL.
    ///
    /// The result is `nil` for a template whose resolved URLs may differ in more than the inserted numbers. Text after
    /// the first number that has no colon and no path segment that begins with a dot does not change how a reference is
    /// resolved (RFC 3986 §5.2): it is the end of the URL as it is, because the number before it is never empty.
    ///
    /// - Parameters:
    ///   - template: The template.
    ///   - values: The values of the representation.
    ///   - base: The base URL.
    ///   - encode: Returns the form of constant text, which must be that of its bytes one after the other; the first
    ///     text is the beginning of the URL, which its second argument tells.
    init?(
        _ template: AddressTemplate,
        _ values: AddressTemplate.Values,
        base: ResourceAddress,
        encode: (String, Bool) -> String
    ) {
        var tail: [AddressTemplate.Part] = []
        for part in template.parts {
            switch part {
            case .text(let text):
                guard !tail.isEmpty else { continue }
                guard Self.isVerbatim(text) else { return nil }
                tail.append(part)
            case .value(let identifier, _, _, _):
                switch identifier {
                case .number, .time, .subNumber: tail.append(part)
                case .bandwidth where tail.isEmpty, .representationID where tail.isEmpty: continue
                case .bandwidth: tail.append(part)
                case .representationID:
                    guard Self.isVerbatim(values.representationID) else { return nil }
                    tail.append(.text(values.representationID))
                }
            }
        }
        let ending = AddressTemplate(parts: tail)
        guard let prefix = Self.prefix(template, ending, values, base, sample: 1),
            // A second sample with other digits shows that they do not change the beginning.
            prefix == Self.prefix(template, ending, values, base, sample: 9_876_543_210)
        else { return nil }
        beginning = Array(encode(String(decoding: prefix, as: UTF8.self), true).utf8)
        var parts: [Part] = []
        func append(_ text: String) {
            // The text before the first number is the prefix.
            guard let last = parts.indices.last else { return }
            parts[last].text += Array(encode(text, false).utf8)
        }
        for part in tail {
            switch part {
            case .text(let text): append(text)
            case .value(.bandwidth, _, _, _): append(AddressTemplate(parts: [part]).text(values))
            case .value(let identifier, let width, let radix, let isUppercase):
                parts.append(Part(identifier: identifier, width: width, radix: radix, isUppercase: isUppercase))
            }
        }
        self.parts = parts
    }

    /// Returns a Boolean value that indicates whether text after a number remains as it is in a resolved URL.
    private static func isVerbatim(_ text: String) -> Bool {
        var last: UInt8 = 0
        for byte in text.utf8 {
            if byte == UInt8(ascii: ":") || byte == UInt8(ascii: ".") && last == UInt8(ascii: "/") { return false }
            last = byte
        }
        // The next part could begin with a dot.
        return last != UInt8(ascii: "/")
    }

    /// Returns the resolved URL of a sample without its ending, or `nil` if it does not end as the template does.
    private static func prefix(
        _ template: AddressTemplate,
        _ ending: AddressTemplate,
        _ values: AddressTemplate.Values,
        _ base: ResourceAddress,
        sample: Int64
    ) -> [UInt8]? {
        var values = values
        (values.number, values.time, values.subNumber) = (sample, sample, sample)
        let address = Array(base.resolving(template.text(values)).text.utf8)
        let tail = Array(ending.text(values).utf8)
        guard tail.count <= address.count, address.suffix(tail.count).elementsEqual(tail) else { return nil }
        return Array(address.dropLast(tail.count))
    }

    /// Appends the URL of a segment to a text.
    package mutating func append(_ entry: SegmentTimes.Entry, to text: inout [UInt8]) {
        if !replaceNumbers(entry) { writeLine(entry) }
        text.append(contentsOf: line.bytes)
    }

    /// Replaces the numbers in the URL of the segment before; returns `false` if the URL has to be written again.
    private mutating func replaceNumbers(_ entry: SegmentTimes.Entry) -> Bool {
        guard !line.bytes.isEmpty else { return false }
        for index in parts.indices {
            let number = parts[index].number(entry)
            guard number >= 0, parts[index].radix == 10, line.replaceNumber(at: index, with: number.magnitude) else {
                return false
            }
        }
        return true
    }

    private mutating func writeLine(_ entry: SegmentTimes.Entry) {
        line.removeAll()
        line.append(beginning)
        for part in parts {
            let number = part.number(entry)
            if number < 0 { line.append([UInt8(ascii: "-")]) }
            if part.radix == 10 {
                line.append(number.magnitude, minimumDigitCount: part.width)
            } else {
                let digits = String(number.magnitude, radix: part.radix, uppercase: part.isUppercase)
                line.append(Array(repeating: UInt8(ascii: "0"), count: max(0, part.width -| digits.utf8.count)))
                line.append(Array(digits.utf8))
            }
            line.append(part.text)
        }
    }
}
