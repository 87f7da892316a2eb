import MediaTiming

extension MediaFileMetadata {
    /// Adds the texts of a `LIST` chunk of form `INFO` (Multimedia Programming Interface 1.0, chapter 3).
    ///
    /// Texts that are not valid UTF-8 are in Windows-1252.
    ///
    /// - Parameters:
    ///   - range: The range of the chunk without its header.
    ///   - bytes: The bytes with the chunk.
    mutating func addInformationList(_ range: Range<Int>, in bytes: Span<UInt8>) {
        guard bytes.hasBytes("INFO", at: range.lowerBound) else { return }
        var cursor = ByteCursor(range.dropFirst(4), in: bytes)
        var count = 0
        while count < Self.maximumItemCount, cursor.remaining > 8 {
            count += 1
            let type = cursor.readFourCharacterCode(bytes)
            let length = Int(cursor.readUInt32(bytes).byteSwapped)
            let start = cursor.offset
            cursor.skip(length)
            guard !cursor.isPastEnd else { return }
            switch type {
            case "INAM": add(Self.text(start..<cursor.offset, in: bytes), as: .title)
            case "IART": add(Self.text(start..<cursor.offset, in: bytes), as: .artist)
            case "IPRD": add(Self.text(start..<cursor.offset, in: bytes), as: .albumTitle)
            default: break
            }
            // Chunks start at even offsets.
            if length & 1 == 1 { cursor.skip(1) }
        }
    }

    private static func text(_ range: Range<Int>, in bytes: Span<UInt8>) -> String {
        bytes.metadataText(range, orDecodedBy: { SubRipText.windowsText($0) })
    }
}
