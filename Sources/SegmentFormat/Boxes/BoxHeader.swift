import MediaTiming

/// The header of an ISO base media box (ISO/IEC 14496-12 §4.2).
package struct BoxHeader: Sendable, Hashable {
    /// The box type; `uuid` for an extended type.
    package let type: FourCharacterCode
    /// The 16 bytes of the extended type of a `uuid` box; empty for other boxes.
    package let userType: [UInt8]
    /// The length of the header in bytes: 8, 16, 24 or 32.
    package let headerLength: Int
    /// The length of the box in bytes, including its header; `nil` if the box extends to the end of the file.
    package let length: Int64?

    /// Creates a header from the bytes at `offset`, or `nil` if it is incomplete or its box length is less than its
    /// own.
    package init?(_ bytes: Span<UInt8>, at offset: Int) {
        guard offset >= 0, offset < bytes.count else { return nil }
        self.init(bytes, in: offset..<bytes.count)
    }

    init?(_ bytes: Span<UInt8>, in range: Range<Int>) {
        var cursor = ByteCursor(range, in: bytes)
        let start = cursor.offset
        var length: Int64? = Int64(cursor.readUInt32(bytes))
        type = cursor.readFourCharacterCode(bytes)
        if length == 1 {
            guard let long = Int64(exactly: cursor.readUInt64(bytes)) else { return nil }
            length = long
        } else if length == 0 {
            length = nil
        }
        if type == Self.uuid {
            userType = bytes.byteArray(in: cursor.offset..<min(cursor.end, cursor.offset + 16))
            cursor.skip(16)
        } else {
            userType = []
        }
        headerLength = cursor.offset - start
        guard !cursor.isPastEnd else { return nil }
        if let length, length < Int64(headerLength) { return nil }
        self.length = length
    }

    private static let uuid: FourCharacterCode = "uuid"
}

/// A box whose header and available payload are located in a range of bytes.
package struct Box {
    package let type: FourCharacterCode
    /// The range of the box, including its header.
    package let range: Range<Int>
    /// The range of the bytes after the header.
    package let payload: Range<Int>
    /// A Boolean value that indicates whether the declared length exceeds the available bytes.
    package let isTruncated: Bool
}

/// An iterator over consecutive boxes at one level of the box hierarchy.
package struct BoxIterator {
    private var offset: Int
    private let end: Int
    /// The range of the bytes after the last box that was returned.
    var remainder: Range<Int> { offset..<max(offset, end) }

    package init(_ range: Range<Int>, in bytes: Span<UInt8>) {
        let cursor = ByteCursor(range, in: bytes)
        offset = cursor.offset
        end = cursor.end
    }

    /// Returns the next box, or `nil` at the end and at bytes that are not a valid box header.
    ///
    /// A box that exceeds its parent is truncated to it, so that the fields at its beginning can still be read.
    package mutating func next(_ bytes: Span<UInt8>) -> Box? {
        guard offset < end, let header = BoxHeader(bytes, in: offset..<end) else { return nil }
        let available = end - offset
        let length = header.length.map { Int(clamping: $0) } ?? available
        let start = offset
        offset += min(length, available)
        return Box(
            type: header.type,
            range: start..<offset,
            payload: start + header.headerLength..<offset,
            isTruncated: length > available
        )
    }
}

extension Box {
    /// Returns the first box of the given type among the boxes at the top level of `bytes`, or `nil` if there is none.
    package static func first(_ type: FourCharacterCode, in bytes: Span<UInt8>) -> Box? {
        var walker = BoxIterator(0..<bytes.count, in: bytes)
        while let box = walker.next(bytes) {
            if box.type == type { return box }
        }
        return nil
    }

    /// Returns the first child box of the given type, or `nil` if there is none.
    package func firstChild(_ type: FourCharacterCode, in bytes: Span<UInt8>) -> Box? {
        var walker = BoxIterator(payload, in: bytes)
        while let box = walker.next(bytes) {
            if box.type == type { return box }
        }
        return nil
    }

    /// Reads the version and flags of a full box and returns them with a cursor at the bytes after them.
    package func fullBoxFields(in bytes: Span<UInt8>) -> (version: UInt8, flags: UInt32, cursor: ByteCursor) {
        var cursor = ByteCursor(payload, in: bytes)
        let version = cursor.readUInt8(bytes)
        let flags = cursor.readUInt24(bytes)
        return (version, flags, cursor)
    }
}
