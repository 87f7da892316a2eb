import MediaTiming

/// The header of an ISO base media box (ISO/IEC 14496-12 §4.2).
public struct BoxHeader: Sendable, Hashable {
    /// The type; `uuid` for boxes of other people's types.
    public let type: FourCharacterCode
    /// The 16 bytes of the type behind `uuid`; empty for other boxes.
    public let userType: [UInt8]
    /// How many bytes the header has: 8, 16, 24 or 32.
    public let headerLength: Int
    /// How many bytes the whole box has, its header included; `nil` where it runs to the end of the file.
    public let length: Int64?

    /// Reads the header at a place; `nil` where it is not whole or names a length shorter than itself.
    public init?(_ bytes: Span<UInt8>, at offset: Int) {
        guard offset >= 0, offset < bytes.count else { return nil }
        self.init(bytes, in: offset..<bytes.count)
    }

    init?(_ bytes: Span<UInt8>, in range: Range<Int>) {
        var cursor = ByteCursor(range, in: bytes)
        let start = cursor.offset
        var length: Int64? = Int64(cursor.uint32(bytes))
        type = cursor.code(bytes)
        if length == 1 {
            guard let long = Int64(exactly: cursor.uint64(bytes)) else { return nil }
            length = long
        } else if length == 0 {
            length = nil
        }
        if type == Self.uuid {
            userType = bytes.array(cursor.offset..<min(cursor.end, cursor.offset + 16))
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

/// A box that lies in bytes that are there.
package struct Box {
    package let type: FourCharacterCode
    /// All its bytes.
    package let range: Range<Int>
    /// The bytes behind its header.
    package let payload: Range<Int>
    /// Whether it says that it goes on behind the bytes that are there.
    package let isCut: Bool
}

/// Goes from box to box.
package struct BoxWalker {
    private var offset: Int
    private let end: Int

    package init(_ range: Range<Int>, in bytes: Span<UInt8>) {
        let cursor = ByteCursor(range, in: bytes)
        offset = cursor.offset
        end = cursor.end
    }

    /// The next box; `nil` at the end and where something stands that is no box.
    ///
    /// A box that would pass the end of its parent is cut there: what a careless writer left out is at its end.
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
            isCut: length > available
        )
    }
}

extension Box {
    /// Returns the first box of a type among those that bytes begin with; `nil` where there is none.
    package static func first(_ type: FourCharacterCode, in bytes: Span<UInt8>) -> Box? {
        var walker = BoxWalker(0..<bytes.count, in: bytes)
        while let box = walker.next(bytes) {
            if box.type == type { return box }
        }
        return nil
    }

    /// The first child of a type.
    package func child(_ type: FourCharacterCode, _ bytes: Span<UInt8>) -> Box? {
        var walker = BoxWalker(payload, in: bytes)
        while let box = walker.next(bytes) {
            if box.type == type { return box }
        }
        return nil
    }

    /// A cursor behind the version and flags of a full box.
    package func fields(_ bytes: Span<UInt8>) -> (version: UInt8, flags: UInt32, cursor: ByteCursor) {
        var cursor = ByteCursor(payload, in: bytes)
        let version = cursor.uint8(bytes)
        let flags = cursor.uint24(bytes)
        return (version, flags, cursor)
    }
}
