#if canImport(AVFoundation)
import HLSPlaylist
import MediaTransport
import ResourceAddressing
import Synchronization

/// The kinds of the resources that playlists refer to, because AVFoundation does not tell them.
final class ResourceKinds: Sendable {
    private struct State {
        var kinds: [String: TransportRequest.Kind] = [:]
        var order: [String] = []
    }

    /// The maximum number of resources, beyond which the oldest are forgotten; their kind is then unknown.
    private static let maximumCount = 50_000

    private let state = Mutex(State())

    /// Returns the kind of a resource, or `nil` if no playlist refers to it.
    func kind(of address: ResourceAddress) -> TransportRequest.Kind? { state.withLock { $0.kinds[address.text] } }

    /// Returns a Boolean value that indicates whether bytes are the beginning of a playlist; `nil` if there are too few.
    static func isPlaylist(_ bytes: [UInt8]) -> Bool? {
        // A byte order mark is tolerated.
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        let marker = Array("#EXTM3U".utf8)
        let beginning = bytes.dropFirst(start).prefix(marker.count)
        if beginning.count < marker.count, marker.starts(with: beginning) { return nil }
        return beginning.elementsEqual(marker)
    }

    /// Stores the kinds of the resources that a playlist refers to.
    func addReferences(of bytes: [UInt8], at address: ResourceAddress) {
        guard let playlist = try? Playlist.parse(bytes, context: PlaylistContext(address: address)) else { return }
        let isSubtitles = state.withLock { $0.kinds[address.text] } == .subtitle
        state.withLock { state in
            for reference in playlist.addresses {
                let kind: TransportRequest.Kind
                switch reference.role {
                case .segment, .part: kind = isSubtitles ? .subtitle : .segment
                case .initialization: kind = .initialization
                case .key: kind = .key
                case .variant, .iFrameVariant, .rendition, .renditionReport: kind = .playlist
                case .session, .interstitial: kind = .other
                }
                if state.kinds.updateValue(kind, forKey: reference.address.text) == nil {
                    state.order.append(reference.address.text)
                }
            }
            if state.order.count > Self.maximumCount {
                for text in state.order.prefix(state.order.count / 2) { state.kinds[text] = nil }
                state.order.removeFirst(state.order.count / 2)
            }
        }
    }
}
#endif
