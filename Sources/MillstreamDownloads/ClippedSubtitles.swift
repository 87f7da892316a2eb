import MediaTiming
import MediaTransport
import PlaylistEditing
import PresentationLoading

/// A transport that removes the cues outside the part of a WebVTT file to which an edited playlist refers.
struct ClippedSubtitles: Transport {
    let base: any Transport
    /// The policy for retrying failed loads.
    let policy: RecoveryPolicy

    var executor: (any TaskExecutor)? { base.executor }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        guard request.kind == .subtitle, request.byteRange == nil, let clip = SubtitleClip(of: request.address) else {
            return try await base.send(request)
        }
        // The file is never continued: its bytes are not those of the server.
        let file = try await clip.loadSubtitles(at: request.address, ResourceLoader(base, policy: policy))
        let bytes = clip.clipped(file)
        return TransportResponse(
            status: 200,
            headers: [HeaderField("Content-Type", "text/vtt")],
            address: request.address,
            expectedLength: Int64(clamping: bytes.count),
            body: TransportBody(bytes)
        )
    }
}
