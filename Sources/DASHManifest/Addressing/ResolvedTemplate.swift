import MediaTiming
import ResourceAddressing

/// A template whose URLs are resolved once for all segments, so that the URL of a segment only inserts its numbers.
package struct ResolvedTemplate: Sendable {
    private enum Part {
        case text([UInt8])
        case value(AddressTemplate.Identifier, width: Int, radix: Int, isUppercase: Bool)
    }

    private let parts: [Part]

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
        var parts: [Part] = [.text(Array(encode(String(decoding: prefix, as: UTF8.self), true).utf8))]
        for part in tail {
            switch part {
            case .text(let text): parts.append(.text(Array(encode(text, false).utf8)))
            case .value(.bandwidth, _, _, _):
                let text = AddressTemplate(parts: [part]).text(values)
                parts.append(.text(Array(encode(text, false).utf8)))
            case .value(let identifier, let width, let radix, let isUppercase):
                parts.append(.value(identifier, width: width, radix: radix, isUppercase: isUppercase))
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
    package func append(_ entry: SegmentTimes.Entry, to text: inout [UInt8]) {
        for part in parts {
            switch part {
            case .text(let bytes): text.append(contentsOf: bytes)
            case .value(let identifier, let width, let radix, let isUppercase):
                let number: Int64
                switch identifier {
                case .number: number = entry.number
                case .time: number = entry.time
                case .subNumber: number = entry.subNumber
                // Constant values were replaced by text.
                case .representationID, .bandwidth: continue
                }
                if number < 0 { text.append(UInt8(ascii: "-")) }
                Self.append(number.magnitude, width: width, radix: UInt64(clamping: radix), isUppercase, to: &text)
            }
        }
    }

    /// Appends the digits of a number, with zeros in front if there are fewer than the given number of them.
    private static func append(
        _ number: UInt64,
        width: Int,
        radix: UInt64,
        _ isUppercase: Bool,
        to text: inout [UInt8]
    ) {
        let start = text.count
        var rest = number
        repeat {
            let (quotient, digit) = rest.quotientAndRemainder(dividingBy: max(2, radix))
            // A digit is less than 16, and letters end at 0x66.
            let value = UInt8(truncatingIfNeeded: digit)
            let letter = isUppercase ? UInt8(ascii: "A") : UInt8(ascii: "a")
            text.append(value < 10 ? UInt8(ascii: "0") &+ value : letter &+ (value &- 10))
            rest = quotient
        } while rest > 0
        while text.count -| start < width { text.append(UInt8(ascii: "0")) }
        text[start...].reverse()
    }
}
