package import SegmentFormat

/// A reader of the event messages at the beginning of a segment (ISO/IEC 23009-1:2022 §5.10.3.3).
///
/// They precede the first movie fragment, so that the media of the segment need not be loaded.
package enum EventMessageReader {
    /// The maximum number of messages of a segment.
    private static let maximumCount = 256

    /// Reads the beginning of a segment.
    ///
    /// - Parameter bytes: The first bytes of the segment.
    /// - Returns: The messages, or `nil` if more bytes are needed to find all of them.
    package static func messages(in bytes: [UInt8]) -> [EventMessage]? {
        let span = bytes.span
        var messages: [EventMessage] = []
        var iterator = BoxIterator(0..<span.count, in: span)
        while let box = iterator.next(span) {
            if box.type == .moof || box.type == .mdat { return messages }
            guard !box.isTruncated else { return nil }
            guard box.type == .emsg, messages.count < maximumCount else { continue }
            // A message that cannot be read is left out.
            if let message = try? EventMessage(span, at: box.range.lowerBound) { messages.append(message) }
        }
        return nil
    }
}
