import MediaTiming

extension MediaFileMetadata {
    /// Adds Vorbis comments, which are in Ogg and FLAC files (Vorbis I §5.2, RFC 9639 §8.6).
    ///
    /// - Parameters:
    ///   - range: The range from the length of the vendor's name to the end; comments that are cut off are omitted.
    ///   - bytes: The bytes with the comments.
    mutating func addVorbisComments(_ range: Range<Int>, in bytes: Span<UInt8>) {
        var cursor = ByteCursor(range, in: bytes)
        cursor.skip(Int(cursor.readUInt32(bytes).byteSwapped))
        let count = min(Int(cursor.readUInt32(bytes).byteSwapped), Self.maximumItemCount)
        for _ in 0..<count {
            let length = Int(cursor.readUInt32(bytes).byteSwapped)
            let start = cursor.offset
            cursor.skip(length)
            guard !cursor.isPastEnd else { return }
            addVorbisComment(start..<cursor.offset, in: bytes)
        }
    }

    private mutating func addVorbisComment(_ range: Range<Int>, in bytes: Span<UInt8>) {
        let beginning = bytes.byteArray(in: range.prefix(Self.pictureComment.utf8.count + 1))
        guard let end = beginning.firstIndex(of: UInt8(ascii: "=")) else { return }
        let value = range.dropFirst(end + 1)
        // Names are case-insensitive.
        switch String(decoding: beginning[..<end], as: UTF8.self).uppercased() {
        case "TITLE": add(bytes.metadataText(value), as: .title)
        case "ARTIST": add(bytes.metadataText(value), as: .artist)
        case "ALBUM": add(bytes.metadataText(value), as: .albumTitle)
        case Self.pictureComment:
            guard let block = Self.base64Decoded(value, in: bytes) else { return }
            addPicture(0..<block.count, in: block.span)
        default: break
        }
    }

    /// The name of a comment whose value is a FLAC picture block in base64.
    private static let pictureComment = "METADATA_BLOCK_PICTURE"

    /// Adds the image of a FLAC picture block (RFC 9639 §8.8).
    ///
    /// - Parameters:
    ///   - range: The range of the block without its header.
    ///   - bytes: The bytes with the block.
    mutating func addPicture(_ range: Range<Int>, in bytes: Span<UInt8>) {
        var cursor = ByteCursor(range, in: bytes)
        let pictureType = cursor.readUInt32(bytes)
        // The media type, then a description, the size in pixels, the color depth and the number of colors.
        cursor.skip(Int(cursor.readUInt32(bytes)))
        cursor.skip(Int(cursor.readUInt32(bytes)))
        cursor.skip(16)
        let length = Int(cursor.readUInt32(bytes))
        guard length <= Self.maximumArtworkSize else { return }
        addArtwork(cursor.readBytes(length, bytes), isFrontCover: pictureType == 3)
    }

    /// Returns the bytes of a base64 text (RFC 4648 §4); `nil` for other characters.
    private static func base64Decoded(_ range: Range<Int>, in bytes: Span<UInt8>) -> [UInt8]? {
        guard range.count <= 2 *| maximumSize else { return nil }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(range.count / 4 *| 3)
        var (bits, bitCount) = (UInt32(0), 0)
        for byte in bytes.byteArray(in: range) {
            let digit: UInt8
            switch byte {
            case 0x41...0x5A: digit = byte &- 0x41
            case 0x61...0x7A: digit = byte &- 0x61 &+ 26
            case 0x30...0x39: digit = byte &- 0x30 &+ 52
            case 0x2B: digit = 62
            case 0x2F: digit = 63
            case 0x3D: return decoded
            default: return nil
            }
            bits = bits << 6 | UInt32(digit)
            bitCount += 6
            guard bitCount >= 8 else { continue }
            bitCount -= 8
            decoded.append(UInt8(truncatingIfNeeded: bits >> bitCount))
        }
        return decoded
    }
}
