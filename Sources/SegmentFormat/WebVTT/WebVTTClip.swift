package import MediaTiming

extension WebVTTDocument {
    /// Returns the bytes of a document without the cues outside a time range; cues at its ends are shortened.
    ///
    /// Everything else remains byte for byte, the header with its timestamp map among them.
    ///
    /// - Parameters:
    ///   - bytes: The bytes of a WebVTT document; any others are returned unchanged.
    ///   - range: The range of cue times.
    /// - Returns: The bytes of a WebVTT document.
    package static func clipping(_ bytes: [UInt8], to range: MediaTimeRange) -> [UInt8] {
        let span = bytes.span
        var lines = WebVTTLineIterator(span)
        guard lines.skipSignature(span) else { return bytes }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var position = 0
        var block: [Range<Int>] = []
        /// Writes the lines of a block with the bytes after it up to `end`.
        func finish(_ end: Int) {
            defer {
                position = end
                block = []
            }
            // The timings are in the first line of a cue, or in the second one, after its identifier.
            let timing = block.prefix(2).first { contains("-->", bytes[$0]) }
            guard let timing,
                let (times, _) = WebVTTScanner.timing(String(decoding: bytes[timing], as: UTF8.self))
            else {
                result += bytes[position..<end]
                return
            }
            let start = max(times.start, range.start)
            let stop = min(times.end, range.end)
            guard start < stop else { return }
            guard start > times.start || stop < times.end else {
                result += bytes[position..<end]
                return
            }
            let line = String(decoding: bytes[timing], as: UTF8.self)
            result += bytes[position..<timing.lowerBound]
            result += Array("\(start.timestamp) --> \(stop.timestamp)\(settings(of: line))".utf8)
            result += bytes[timing.upperBound..<end]
        }
        // The header ends with a blank line, or before the first timings.
        position = bytes.count
        while let line = lines.next(span) {
            if contains("-->", bytes[line.range]) {
                lines.rewind(to: line)
                position = line.range.lowerBound
                break
            }
            if line.range.isEmpty {
                position = lineEnd(after: line.range.upperBound, bytes)
                break
            }
        }
        result += bytes[..<position]
        var hasTimings = false
        while let line = lines.next(span) {
            let text = line.range
            if text.isEmpty {
                // The blank line belongs to the block before it.
                finish(lineEnd(after: text.upperBound, bytes))
                hasTimings = false
                continue
            }
            let isTiming = contains("-->", bytes[text])
            // Timings begin another cue, with or without a blank line before them.
            if isTiming, hasTimings || block.count > 1 {
                finish(text.lowerBound)
                hasTimings = false
            }
            hasTimings = hasTimings || isTiming
            block.append(text)
        }
        finish(bytes.count)
        return result
    }

    /// Returns the settings of a timing line with the space before them.
    private static func settings(of line: String) -> Substring {
        guard let arrow = line.firstRange(of: "-->") else { return "" }
        let rest = line[arrow.upperBound...].drop { $0 == " " || $0 == "\t" }
        return rest.drop { $0 != " " && $0 != "\t" }
    }

    private static func contains(_ text: String, _ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.firstRange(of: Array(text.utf8)) != nil
    }

    /// Returns the offset after the line terminator at an offset.
    private static func lineEnd(after offset: Int, _ bytes: [UInt8]) -> Int {
        guard offset < bytes.count else { return bytes.count }
        let isPair = bytes[offset] == 0x0D && offset + 1 < bytes.count && bytes[offset + 1] == 0x0A
        return offset + (isPair ? 2 : 1)
    }
}

extension MediaTime {
    /// The time as a WebVTT timestamp, `hh:mm:ss.ttt`.
    fileprivate var timestamp: String {
        let milliseconds = max(0, units(per: 1_000))
        func digits(_ number: Int64, _ count: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
        }
        let seconds = milliseconds / 1_000
        return
            "\(digits(seconds / 3_600, 2)):\(digits(seconds / 60 % 60, 2)):\(digits(seconds % 60, 2)).\(digits(milliseconds % 1_000, 3))"
    }
}
