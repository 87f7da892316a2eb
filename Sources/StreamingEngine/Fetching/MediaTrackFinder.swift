import MediaTiming
import MediaTransport
import NIOCore
import ResourceAddressing
import SegmentFormat

/// A reader of the tracks of a stream from the start of one of its segments.
struct MediaTrackFinder: Sendable {
    let fetch: ResourceFetcher

    /// The number of bytes that are loaded of a segment, 64 KiB.
    private static let headSize = 64 << 10
    /// The number of bytes that are loaded of an initialization section, 1 MiB.
    private static let maximumInitializationSize = 1 << 20

    /// Returns the tracks of the first segment that has media.
    ///
    /// - Parameter timeline: The timeline of the variant.
    /// - Returns: The tracks; empty if they cannot be determined, as those of encrypted segments.
    func tracks(of timeline: PresentationTimeline) async -> [MediaTrack] {
        guard let segment = timeline.segments.first(where: { !$0.isGap }) else { return [] }
        if let initialization = segment.initialization {
            guard initialization.protection == .none else { return [] }
            let request = TransportRequest(
                initialization.address,
                kind: .initialization,
                byteRange: initialization.byteRange
            )
            let head = await load(request, size: Self.maximumInitializationSize)
            return head.map { MediaTrack.tracks(ofSegment: [], initialization: $0) } ?? []
        }
        switch segment.protection {
        case .none, .samples:
            let request = TransportRequest(segment.address, kind: .segment, byteRange: segment.byteRange)
            let head = await load(request, size: Self.headSize)
            return head.map { MediaTrack.tracks(ofSegment: $0, initialization: nil) } ?? []
        case .wholeResource, .unsupported: return []
        }
    }

    /// Loads the start of a resource; `nil` if it cannot be loaded, which playback reports.
    private func load(_ request: TransportRequest, size: Int) async -> [UInt8]? {
        var began = fetch.time.now
        return try? await fetch.retrying(request, &began) { response, _ in
            var bytes: [UInt8] = []
            for try await buffer in response.body {
                bytes.append(contentsOf: buffer.readableBytesView)
                if bytes.count >= size { break }
            }
            return bytes
        }
    }
}
