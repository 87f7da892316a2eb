import MediaTiming

extension SampleEntry {
    /// Returns the sample entries of a `stsd` box.
    static func entries(_ box: Box, kind: MediaTrack.Kind, _ bytes: Span<UInt8>) -> [SampleEntry] {
        let (_, _, cursor) = box.fields(bytes)
        var walker = BoxWalker(cursor.offset + 4..<max(cursor.offset + 4, cursor.end), in: bytes)
        var entries: [SampleEntry] = []
        while entries.count < mostEntries, let entry = walker.next(bytes) {
            entries.append(SampleEntry(entry, kind: kind, bytes))
        }
        return entries
    }

    private init(_ box: Box, kind: MediaTrack.Kind, _ bytes: Span<UInt8>) {
        var cursor = ByteCursor(box.payload, in: bytes)
        // Each entry starts with six reserved bytes and the data reference index.
        cursor.skip(8)
        var picture: (width: Int, height: Int)?
        var sound: AudioFields?
        switch kind {
        case .video:
            cursor.skip(16)
            picture = (Int(cursor.uint16(bytes)), Int(cursor.uint16(bytes)))
            cursor.skip(50)
        case .audio:
            sound = AudioFields(&cursor, bytes)
        default:
            break
        }
        let rest = cursor.isPastEnd ? box.range.upperBound..<box.range.upperBound : cursor.offset..<cursor.end
        let children = Box(type: box.type, range: box.range, payload: rest, isCut: box.isCut)

        storedFormat = box.type
        let protected = children.child(.sinf, bytes)
        var original = box.type
        if let frma = protected?.child(.frma, bytes) {
            var cursor = ByteCursor(frma.payload, in: bytes)
            let code = cursor.code(bytes)
            if !cursor.isPastEnd { original = code }
        }
        format = original
        protection = protected.map { SampleProtection($0, bytes) }

        let text = kind == .video || kind == .audio ? nil : cursor.offset..<cursor.end
        let description = CodecDescription(original, children: children, textFields: text, bytes)
        codec = description.name
        width = picture?.width
        height = picture?.height
        channelCount = description.channelCount ?? sound?.channelCount
        sampleRate = description.sampleRate ?? sound?.sampleRate
    }

    /// The fields of an audio sample entry, including versions 1 and 2 of QuickTime.
    private struct AudioFields {
        var channelCount: Int?
        var sampleRate: Int?

        init(_ cursor: inout ByteCursor, _ bytes: Span<UInt8>) {
            let version = cursor.uint16(bytes)
            cursor.skip(6)
            let channels = Int(cursor.uint16(bytes))
            cursor.skip(6)
            // The rate is a 16.16 fixed-point number; entries store zero for rates that exceed it.
            let rate = Int(cursor.uint32(bytes) >> 16)
            channelCount = channels > 0 ? channels : nil
            sampleRate = rate > 0 ? rate : nil
            switch version {
            case 1:
                cursor.skip(16)
            case 2:
                cursor.skip(4)
                let exact = Double(bitPattern: cursor.uint64(bytes))
                let count = cursor.uint32(bytes)
                cursor.skip(20)
                if exact >= 1, exact < 10_000_000 { sampleRate = Int(saturating: exact) }
                if count > 0, count < 1_000 { channelCount = Int(count) }
            default:
                break
            }
        }
    }
}
