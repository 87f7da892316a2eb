import MediaTiming
package import MediaTransport
import PlaylistEditing

/// A transport that removes the cues outside the part of a WebVTT file to which an edited playlist refers.
package struct ClippedSubtitles: Transport {
    private let base: any Transport
    private let policy: RecoveryPolicy

    /// Creates a transport for the files of another one.
    ///
    /// - Parameters:
    ///   - base: The transport that loads the files.
    ///   - policy: The policy for retrying failed loads.
    package init(base: any Transport, policy: RecoveryPolicy) {
        self.base = base
        self.policy = policy
    }

    /// The executor of the transport that loads the files.
    package var executor: (any TaskExecutor)? { base.executor }

    /// Sends a request; see `Transport`.
    package func send(_ request: TransportRequest) async throws -> TransportResponse {
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
