import Foundation
import HLSPlaylist
import MediaTiming
import PlaylistEditing
import SharedCorpus
import Testing

/// Tests, with every playlist of the corpus, that an edit changes only the lines that it concerns.
@Suite(.enabled(if: SharedCorpus.isNamed, "MILLSTREAM_SHARED names no folder"))
struct EditPropertyTests {
    private static func playlists() throws -> [(name: String, playlist: Playlist)] {
        try SharedCorpus.files(below: "corpus/hls", extensions: ["m3u8"]).compactMap { url in
            let bytes = [UInt8](try Data(contentsOf: url))
            guard bytes.count < 200_000, let playlist = try? Playlist.parse(bytes) else { return nil }
            return (url.lastPathComponent, playlist)
        }
    }

    /// Returns the lines; a last line without a line ending gets one.
    private func lines(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        var bytes = bytes
        if let last = bytes.last, last != UInt8(ascii: "\n") { bytes.append(UInt8(ascii: "\n")) }
        return bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    }

    /// Returns the lines of the edited playlist that are not in the original in the same order.
    private func added(_ original: [UInt8], _ edited: [UInt8]) -> [String] {
        var rest = lines(original)[...]
        var result: [String] = []
        for line in lines(edited) {
            if let position = rest.firstIndex(of: line) {
                rest = rest[(position + 1)...]
            } else {
                result.append(String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
            }
        }
        return result
    }

    @Test func bitRateLimitOnlyRemovesLines() throws {
        var count = 0
        for (name, playlist) in try Self.playlists() {
            guard case .multivariant(let multivariant) = playlist else { continue }
            let rates = multivariant.variants.compactMap(\.bandwidth).sorted { $0.bitsPerSecond < $1.bitsPerSecond }
            guard let middle = rates.dropFirst(rates.count / 2).first,
                let range = PartialRange<BitRate>("\(middle.bitsPerSecond)...")
            else { continue }
            count += 1
            let limited = try multivariant.limited(to: range)
            #expect(added(playlist.bytes, limited.bytes) == [], "\(name)")
            #expect(
                limited.variants.allSatisfy { ($0.bandwidth?.bitsPerSecond ?? 0) >= middle.bitsPerSecond },
                "\(name)"
            )
            #expect(try limited.limited(to: range).bytes == limited.bytes, "\(name)")
        }
        #expect(count > 50)
    }

    @Test func durationLimitAddsOnlyEndMarker() throws {
        var count = 0
        for (name, playlist) in try Self.playlists() {
            guard case .media(let media) = playlist, media.segments.count > 3 else { continue }
            let half = media.segments[media.segments.count / 2].start
            guard let short = try? media.limited(to: half), short.segments.count < media.segments.count else {
                continue
            }
            count += 1
            #expect(added(playlist.bytes, short.bytes).allSatisfy { $0 == "#EXT-X-ENDLIST" }, "\(name)")
            // The window of a live playlist moves on with its first segment.
            let isEnded = !media.isLive || media.playlistType == .event
            #expect(short.duration <= half && short.hasEndMarker == isEnded, "\(name)")
            #expect(short.segments.map(\.uri) == media.segments.prefix(short.segments.count).map(\.uri), "\(name)")
            #expect(
                short.segments.map(\.byteRange) == media.segments.prefix(short.segments.count).map(\.byteRange),
                "\(name)"
            )
        }
        #expect(count > 100)
    }

    @Test func droppingTheStartKeepsValuesOfOtherSegments() throws {
        var count = 0
        for (name, playlist) in try Self.playlists() {
            guard case .media(let media) = playlist, media.segments.count > 3, media.skippedSegmentCount == 0 else {
                continue
            }
            let half = media.segments[media.segments.count / 2].start
            guard let later = try? media.dropped(before: half) else { continue }
            count += 1
            let rest = media.segments.suffix(later.segments.count)
            #expect(later.segments.map(\.uri) == rest.map(\.uri), "\(name)")
            #expect(later.segments.map(\.sequence) == rest.map(\.sequence), "\(name)")
            #expect(later.segments.map(\.byteRange) == rest.map(\.byteRange), "\(name)")
            #expect(later.segments.map(\.map) == rest.map(\.map), "\(name)")
            #expect(later.segments.map(\.keys) == rest.map(\.keys), "\(name)")
            #expect(later.segments.map(\.programDateTime) == rest.map(\.programDateTime), "\(name)")
            #expect(later.segments.map(\.discontinuitySequence) == rest.map(\.discontinuitySequence), "\(name)")
        }
        #expect(count > 100)
    }

    @Test func rewritingAddressesIsReversible() throws {
        for (name, playlist) in try Self.playlists() {
            // Rewriting substitutes variables, which cannot be reversed.
            guard !String(decoding: playlist.bytes, as: UTF8.self).contains("{$") else { continue }
            #expect(try playlist.rewritingAddresses { $0.uri }.bytes == playlist.bytes, "\(name)")
            let moved = try playlist.rewritingAddresses { $0.uri.isEmpty ? nil : "moved/" + $0.uri }
            let back = try moved.rewritingAddresses { $0.uri.hasPrefix("moved/") ? String($0.uri.dropFirst(6)) : nil }
            guard playlist.addresses.allSatisfy({ !$0.needsQuotes }) else { continue }
            #expect(back.bytes == playlist.bytes, "\(name)")
        }
    }
}
