import MediaTiming

extension ID3Tag.Frame {
    static func all(in body: Range<Int>, _ header: ID3Tag.Header, _ bytes: Span<UInt8>) -> [ID3Tag.Frame] {
        var cursor = ByteCursor(body, in: bytes)
        if header.version > 2, header.flags & 0x40 != 0 { skipExtendedHeader(&cursor, header.version, bytes) }
        var frames: [ID3Tag.Frame] = []
        let letters = header.version == 2 ? 3 : 4
        let headerLength = header.version == 2 ? 6 : 10
        while cursor.remaining > headerLength, frames.count < ID3Tag.maximumFrameCount {
            let name = bytes.byteArray(in: cursor.offset..<cursor.offset + letters)
            // The rest of the tag is padded with zeros.
            guard name.allSatisfy({ (0x41...0x5A).contains($0) || (0x30...0x39).contains($0) }) else { break }
            cursor.skip(letters)
            let length: Int
            var flags: UInt16 = 0
            if header.version == 2 {
                length = Int(cursor.readUInt24(bytes))
            } else {
                // Some writers of version 2.4 store plain instead of sync-safe integers.
                let plain = Int(bytes.uint32(at: cursor.offset))
                length = header.version == 4 ? ID3Tag.Header.syncSafe(bytes, at: cursor.offset) ?? plain : plain
                cursor.skip(4)
                flags = cursor.readUInt16(bytes)
            }
            let start = cursor.offset
            cursor.skip(length)
            guard !cursor.isPastEnd else { break }
            frames.append(
                ID3Tag.Frame(
                    id: String(decoding: name, as: UTF8.self),
                    content: start..<cursor.offset,
                    header,
                    flags: flags,
                    bytes
                )
            )
        }
        return frames
    }

    /// Skips the extended header; version 2.3 does not count its four bytes of length, version 2.4 does.
    private static func skipExtendedHeader(_ cursor: inout ByteCursor, _ version: UInt8, _ bytes: Span<UInt8>) {
        if version == 4 {
            cursor.skip(max(6, ID3Tag.Header.syncSafe(bytes, at: cursor.offset) ?? 6))
        } else {
            cursor.skip(Int(cursor.readUInt32(bytes)))
        }
    }

    private init(id: String, content: Range<Int>, _ header: ID3Tag.Header, flags: UInt16, _ bytes: Span<UInt8>) {
        self.id = id
        var content = content
        var isOpaque = false
        var isUnsynchronized = false
        switch header.version {
        case 3:
            isOpaque = flags & 0xC0 != 0
            if !isOpaque, flags & 0x20 != 0 { content = content.dropFirst(1) }
        case 4:
            isOpaque = flags & 0x0C != 0
            if !isOpaque {
                isUnsynchronized = flags & 0x02 != 0 || header.flags & 0x80 != 0
                if flags & 0x40 != 0 { content = content.dropFirst(1) }
                if flags & 0x01 != 0 { content = content.dropFirst(4) }
            }
        default:
            break
        }
        if isOpaque {
            value = .other(bytes.byteArray(in: content))
        } else if isUnsynchronized {
            let plain = ID3Tag.removingUnsynchronization(bytes, content)
            value = ID3Tag.Value(id: id, 0..<plain.count, plain.span)
        } else {
            value = ID3Tag.Value(id: id, content, bytes)
        }
    }
}

extension ID3Tag.Value {
    fileprivate init(id: String, _ content: Range<Int>, _ bytes: Span<UInt8>) {
        var reader = ID3TextReader(content)
        switch id {
        case "PRIV":
            self = .privateData(owner: reader.latin1(bytes), data: reader.rest(bytes))
        case "TXXX", "TXX":
            reader.readEncoding(bytes)
            let description = reader.text(bytes)
            self = .userText(description: description, values: reader.texts(bytes))
        case "WXXX", "WXX":
            reader.readEncoding(bytes)
            let description = reader.text(bytes)
            self = .userURL(description: description, url: reader.latin1(bytes))
        case "COMM", "COM", "USLT", "ULT":
            reader.readEncoding(bytes)
            let language = reader.fixed(3, bytes)
            let description = reader.text(bytes)
            self = .comment(language: language, description: description, text: reader.text(bytes))
        case "GEOB", "GEO":
            reader.readEncoding(bytes)
            let type = reader.latin1(bytes)
            let name = reader.text(bytes)
            let description = reader.text(bytes)
            self = .object(mimeType: type, fileName: name, description: description, data: reader.rest(bytes))
        case "APIC":
            reader.readEncoding(bytes)
            let type = reader.latin1(bytes)
            let kind = reader.byte(bytes)
            let description = reader.text(bytes)
            self = .attachedImage(mimeType: type, pictureType: kind, description: description, data: reader.rest(bytes))
        case "PIC":
            reader.readEncoding(bytes)
            let format = reader.fixed(3, bytes).lowercased()
            let type = format == "jpg" ? "image/jpeg" : "image/\(format)"
            let kind = reader.byte(bytes)
            let description = reader.text(bytes)
            self = .attachedImage(mimeType: type, pictureType: kind, description: description, data: reader.rest(bytes))
        default:
            if id.hasPrefix("T") {
                reader.readEncoding(bytes)
                self = .text(reader.texts(bytes))
            } else if id.hasPrefix("W") {
                self = .url(reader.latin1(bytes))
            } else {
                self = .other(reader.rest(bytes))
            }
        }
    }
}
