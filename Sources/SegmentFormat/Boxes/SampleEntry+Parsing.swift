import MediaTiming

extension SampleEntry {
    /// Returns the sample entries of a `stsd` box.
    static func entries(_ box: Box, mediaType: MediaTrack.MediaType, _ bytes: Span<UInt8>) -> [SampleEntry] {
        let (_, _, cursor) = box.fullBoxFields(in: bytes)
        var walker = BoxIterator(cursor.offset + 4..<max(cursor.offset + 4, cursor.end), in: bytes)
        var entries: [SampleEntry] = []
        while entries.count < maximumCount, let entry = walker.next(bytes) {
            entries.append(SampleEntry(entry, mediaType: mediaType, bytes))
        }
        return entries
    }

    private init(_ box: Box, mediaType: MediaTrack.MediaType, _ bytes: Span<UInt8>) {
        var cursor = ByteCursor(box.payload, in: bytes)
        // Each entry starts with six reserved bytes and the data reference index.
        cursor.skip(8)
        var videoSize: (width: Int, height: Int)?
        var audioFields: AudioFields?
        switch mediaType {
        case .video:
            cursor.skip(16)
            videoSize = (Int(cursor.readUInt16(bytes)), Int(cursor.readUInt16(bytes)))
            cursor.skip(50)
        case .audio:
            audioFields = AudioFields(&cursor, bytes)
        default:
            break
        }
        let rest = cursor.isPastEnd ? box.range.upperBound..<box.range.upperBound : cursor.offset..<cursor.end
        let children = Box(type: box.type, range: box.range, payload: rest, isTruncated: box.isTruncated)

        codingName = box.type
        let protected = children.firstChild(.sinf, in: bytes)
        var original = box.type
        if let frma = protected?.firstChild(.frma, in: bytes) {
            var cursor = ByteCursor(frma.payload, in: bytes)
            let code = cursor.readFourCharacterCode(bytes)
            if !cursor.isPastEnd { original = code }
        }
        format = original
        protection = protected.map { SampleProtection($0, bytes) }

        let text = mediaType == .video || mediaType == .audio ? nil : cursor.offset..<cursor.end
        let description = CodecDescription(original, children: children, subtitleFields: text, bytes)
        codec = description.codec
        width = videoSize?.width
        height = videoSize?.height
        channelCount = description.channelCount ?? audioFields?.channelCount
        sampleRate = description.sampleRate ?? audioFields?.sampleRate
    }

    /// The fields of an audio sample entry, including versions 1 and 2 of QuickTime.
    private struct AudioFields {
        var channelCount: Int?
        var sampleRate: Int?

        init(_ cursor: inout ByteCursor, _ bytes: Span<UInt8>) {
            let version = cursor.readUInt16(bytes)
            cursor.skip(6)
            let channels = Int(cursor.readUInt16(bytes))
            cursor.skip(6)
            // The rate is a 16.16 fixed-point number; entries store zero for rates that exceed it.
            let rate = Int(cursor.readUInt32(bytes) >> 16)
            channelCount = channels > 0 ? channels : nil
            sampleRate = rate > 0 ? rate : nil
            switch version {
            case 1:
                cursor.skip(16)
            case 2:
                cursor.skip(4)
                let exact = Double(bitPattern: cursor.readUInt64(bytes))
                let count = cursor.readUInt32(bytes)
                cursor.skip(20)
                if exact >= 1, exact < 10_000_000 { sampleRate = Int(saturating: exact) }
                if count > 0, count < 1_000 { channelCount = Int(count) }
            default:
                break
            }
        }
    }
}
