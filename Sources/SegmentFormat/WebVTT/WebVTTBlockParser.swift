import MediaTiming

/// The state of parsing a WebVTT document block by block (W3C WebVTT §6.1, "collect a WebVTT block").
struct WebVTTBlockParser {
    private(set) var timestampMap: WebVTTTimestampMap?
    private(set) var styleSheets: [String] = []
    private(set) var regions: [WebVTTRegion] = []
    private(set) var cues: [WebVTTCue] = []

    /// Reads the header lines after the signature, up to an empty line or the timings of a cue.
    mutating func readHeader(_ lines: inout WebVTTLineIterator, _ bytes: Span<UInt8>) {
        while let line = lines.next(bytes), !line.range.isEmpty {
            guard !line.hasArrow else { return lines.rewind(to: line) }
            timestampMap = timestampMap ?? WebVTTTimestampMap(line: line.text(bytes))
        }
    }

    mutating func readBlock(_ lines: inout WebVTTLineIterator, _ bytes: Span<UInt8>) {
        var count = 0
        var buffer: [String] = []
        var hasArrow = false
        var timing: (range: MediaTimeRange, settings: WebVTTCueSettings)?
        var id = ""
        var kind = Kind.other
        while let line = lines.next(bytes) {
            count += 1
            if line.hasArrow {
                // A second timing line starts the next cue; the empty line before it is missing.
                guard count == 1 || count == 2 && !hasArrow else {
                    lines.rewind(to: line)
                    break
                }
                hasArrow = true
                timing = WebVTTScanner.timing(line.text(bytes))
                if timing != nil {
                    id = buffer.first ?? ""
                    buffer.removeAll()
                }
                continue
            }
            guard !line.range.isEmpty else { break }
            if count == 2, cues.isEmpty, !hasArrow { kind = Kind(buffer.first ?? "", &buffer) }
            buffer.append(line.text(bytes))
        }
        if let timing {
            let text = buffer.joined(separator: "\n")
            cues.append(WebVTTCue(id: id, timeRange: timing.range, settings: timing.settings, text: text))
        } else if !hasArrow {
            add(kind, buffer)
        }
    }

    private enum Kind {
        case style
        case region
        case other

        /// Creates the kind from the first line of a block, and removes the line if it names the kind.
        init(_ line: String, _ buffer: inout [String]) {
            var name = line[...]
            while let last = name.last, last == " " || last == "\t" { name.removeLast() }
            switch name {
            case "STYLE": self = .style
            case "REGION": self = .region
            default:
                self = .other
                return
            }
            buffer.removeAll()
        }
    }

    private mutating func add(_ kind: Kind, _ buffer: [String]) {
        switch kind {
        case .style:
            if styleSheets.count < WebVTTDocument.maximumBlockCount {
                styleSheets.append(buffer.joined(separator: "\n"))
            }
        case .region:
            if regions.count < WebVTTDocument.maximumBlockCount {
                regions.append(WebVTTRegion(settings: buffer.joined(separator: " ")))
            }
        case .other:
            break
        }
    }
}
