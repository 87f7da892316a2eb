/// A writer of XML elements, which escapes text and stops at a maximum size.
struct XMLTextWriter {
    /// The text so far, in UTF-8.
    private(set) var bytes: [UInt8]
    private let limit: Int

    /// Creates a writer.
    ///
    /// - Parameter limit: The maximum number of bytes. Once the text is longer, nothing is added to it.
    init(limit: Int) {
        bytes = Array("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".utf8)
        self.limit = limit
    }

    /// A Boolean value that indicates whether the text exceeds the maximum size, and is incomplete.
    var isTooLong: Bool { bytes.count > limit }

    /// Writes an element.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - attributes: The attributes in order; those without a value are omitted.
    ///   - text: The text in the element; `nil` for none.
    ///   - writeChildren: A closure that writes the elements in the element; `nil` for none.
    mutating func writeElement(
        _ name: String,
        _ attributes: KeyValuePairs<String, String?> = [:],
        text: String? = nil,
        _ writeChildren: ((inout XMLTextWriter) -> Void)? = nil
    ) {
        guard !isTooLong else { return }
        append("<\(name)")
        for (name, value) in attributes {
            guard let value else { continue }
            append(" \(name)=\"")
            appendEscaped(value)
            append("\"")
        }
        guard text != nil || writeChildren != nil else { return append("/>\n") }
        append(">")
        if let text { appendEscaped(text) }
        if let writeChildren {
            append("\n")
            writeChildren(&self)
        }
        append("</\(name)>\n")
    }

    private mutating func append(_ text: String) { bytes += text.utf8 }

    /// Appends text without the characters that XML cannot contain (XML 1.0 §2.2).
    private mutating func appendEscaped(_ text: String) {
        for scalar in text.unicodeScalars {
            switch scalar {
            case "<": append("&lt;")
            case ">": append("&gt;")
            case "&": append("&amp;")
            case "\"": append("&quot;")
            case "\t", "\n", "\r": append("&#\(scalar.value);")
            case _ where scalar.value < 0x20 || scalar.value == 0xFFFE || scalar.value == 0xFFFF: break
            case _ where scalar.isASCII: bytes.append(UInt8(truncatingIfNeeded: scalar.value))
            case _: bytes.append(contentsOf: String(scalar).utf8)
            }
        }
    }
}
