import Foundation
import MediaTiming

/// The flags of the tracks of an MP4 file (ISO/IEC 14496-12 §8.3.2).
enum MovieTrackFlags {
    /// Clears the flag `track_enabled` of some tracks of a file.
    ///
    /// - Parameters:
    ///   - tracks: The indices of the tracks, in the order of the file.
    ///   - path: The path of the file.
    /// - Throws: The error of the system.
    static func disable(tracks: Set<Int>, inFile path: String) throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        defer { try? file.close() }
        let end = try file.seekToEnd()
        guard let movie = try boxes(named: "moov", in: file, 0..<end).first else { return }
        for (index, track) in try boxes(named: "trak", in: file, movie).enumerated() where tracks.contains(index) {
            for header in try boxes(named: "tkhd", in: file, track) where header.count >= 4 {
                // The flags are the last three bytes of the first four; the lowest bit is that of enabled tracks.
                try file.seek(toOffset: header.lowerBound +| 3)
                guard let flags = try file.read(upToCount: 1)?.first else { continue }
                try file.seek(toOffset: header.lowerBound +| 3)
                try file.write(contentsOf: [flags & 0xFE])
            }
        }
    }

    /// Returns the contents of the boxes with a name in a range of a file.
    private static func boxes(named name: String, in file: FileHandle, _ range: Range<UInt64>) throws -> [Range<UInt64>]
    {
        var found: [Range<UInt64>] = []
        var offset = range.lowerBound
        while offset +| 8 <= range.upperBound {
            try file.seek(toOffset: offset)
            guard let head = try file.read(upToCount: 16), head.count >= 8 else { break }
            let bytes = Array(head)
            var size = bytes[..<4].reduce(0) { $0 << 8 | UInt64($1) }
            var headerSize: UInt64 = 8
            if size == 1, bytes.count == 16 {
                size = bytes[8...].reduce(0) { $0 << 8 | UInt64($1) }
                headerSize = 16
            }
            if size == 0 { size = (range.upperBound -| offset) }
            guard size >= headerSize, size <= range.upperBound -| offset else { break }
            if bytes[4..<8].elementsEqual(name.utf8) { found.append((offset +| headerSize)..<(offset +| size)) }
            offset = (offset +| size)
        }
        return found
    }
}
