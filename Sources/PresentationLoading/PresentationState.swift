import DASHManifest
import DASHTranslation
import HLSPlaylist
import MediaTiming
import MediaTransport
import ResourceAddressing

/// A manifest of a DASH presentation, its translation and the clock of its server.
///
/// It decides when the manifest must be loaded again, and from which URL. It uses no clock and loads nothing.
struct PresentationState: Sendable {
    /// The result of translating the current version of the manifest.
    enum Outcome: Sendable {
        /// The version was not translated yet.
        case pending
        /// The version was translated at a time of the local clock.
        case translated(TranslatedPresentation, at: Duration)
        /// The version cannot be translated, and its contents are not retained.
        case failed(TransportError)
    }

    /// The difference between the clock of the server and the local clock.
    struct ServerClock: Sendable {
        /// The time after which the clock of the server is requested again.
        private static let lifetime = Duration.seconds(600)

        /// The time of the server minus the local time.
        var difference: MediaTime = .zero
        /// The time at which the difference was determined; `nil` if it is unknown.
        var updateTime: Duration?

        /// Returns a Boolean value that indicates whether the clock of the server must be requested.
        func isUpdateDue(at now: Duration) -> Bool { updateTime.map { now - $0 >= Self.lifetime } ?? true }
    }

    /// The minimum time between two loads of a manifest, whatever it allows: a second.
    ///
    /// A period of zero means that a manifest may change at any time.
    private static let minimumReloadInterval = Duration.seconds(1)
    /// The size of the events of most segments, in bytes.
    private static let commonEventSize = 1_024

    /// The manifest; without its contents if it is not translated anymore.
    var presentation: MediaPresentation?
    /// The manifest before remote elements are inserted, if a patch can change it to the next version.
    var patchable: PresentationSession.LoadedManifest?
    /// The manifest before remote elements are inserted, with the time of day at which the next one is needed.
    var linked: (manifest: PresentationSession.LoadedManifest, date: MediaTime)?
    var translator: PresentationTranslator
    var outcome = Outcome.pending
    var indexes = PresentationSource.Indexes()
    var events = SegmentEvents()
    var clock = ServerClock()
    /// The time at which the load of the manifest began.
    var loadTime: Duration = .zero

    /// Creates the state of a session that has loaded nothing.
    init(translator: PresentationTranslator) { self.translator = translator }

    /// The playlists; `nil` if the manifest is not translated yet, or cannot be translated.
    var translation: TranslatedPresentation? {
        guard case .translated(let translation, _) = outcome else { return nil }
        return translation
    }

    /// A Boolean value that indicates whether all playlists are complete.
    private var hasEnded: Bool { translation?.playlists.allSatisfy(\.hasEndMarker) ?? false }

    /// The memory that the manifest, its resources and its playlists take, in bytes; estimated.
    var byteCount: Int {
        var sum = (patchable ?? linked?.manifest)?.bytes.count ?? 0
        sum +|= presentation?.memorySize ?? 0
        for index in indexes.segments.values {
            sum +|= index.segments.count *| MemoryLayout<IndexedSegment>.stride
        }
        sum +|= events.messages.count *| Self.commonEventSize
        guard let translation else { return sum }
        return translation.playlists.reduce(sum +| translation.multivariant.bytes.count) { $0 +| $1.bytes.count }
    }

    // MARK: Updates

    /// The time after which a new version of the playlists is due, from 1 to 60 seconds; `nil` once they are complete.
    var updateInterval: Duration? {
        guard let presentation, presentation.kind == .dynamic, !hasEnded else { return nil }
        let period = presentation.minimumUpdatePeriod ?? MediaTime(seconds: translator.state.targetDuration)
        return min(max(period, MediaTime(seconds: 1)), MediaTime(seconds: 60)).duration
    }

    /// Returns a Boolean value that indicates whether the manifest must be loaded before a playlist is answered.
    ///
    /// - Parameters:
    ///   - now: The time of the local clock.
    ///   - staticLifetime: The time after which a static manifest is loaded again; `nil` for no limit.
    /// - Returns: Whether a load is due.
    func isReloadDue(at now: Duration, staticLifetime: Duration?) -> Bool {
        guard let presentation else { return true }
        let age = now - loadTime
        let hasFailed = if case .failed = outcome { true } else { false }
        guard presentation.kind == .dynamic else { return hasFailed || staticLifetime.map { age >= $0 } ?? false }
        // Without a period, the manifest does not change (ISO/IEC 23009-1 §5.3.1.2).
        guard hasFailed || presentation.minimumUpdatePeriod != nil && !hasEnded else { return false }
        return age >= max(presentation.minimumUpdatePeriod?.duration ?? .zero, Self.minimumReloadInterval)
    }

    /// Returns the URL of the next version of the manifest: the first location in the manifest, or the URL of the session.
    func nextAddress(of address: ResourceAddress) -> ResourceAddress {
        guard let presentation, let location = presentation.locations.first, !location.isEmpty,
            let base = presentation.address
        else { return address }
        let next = base.resolving(location).withoutFragment
        return Self.isPermitted(next, from: base) ? next : address
    }

    /// Returns the URL of the patch to the next version of the manifest; `nil` if the complete manifest must be loaded.
    ///
    /// - Parameter date: The time of day by the clock of the server.
    /// - Returns: The URL.
    func nextPatch(at date: MediaTime) -> ResourceAddress? {
        guard patchable != nil, let presentation, let base = presentation.address,
            let patch = presentation.patchAddress(at: date)?.withoutFragment,
            Self.isPermitted(patch, from: base)
        else { return nil }
        return patch
    }

    /// Returns a Boolean value that indicates whether a manifest may refer to a URL: a presentation from the network must
    /// not lead to files.
    private static func isPermitted(_ address: ResourceAddress, from base: ResourceAddress) -> Bool {
        address.isHTTP == base.isHTTP && address.isAbsolute
    }

    /// Removes the contents of a manifest that cannot be translated.
    mutating func fail(_ failure: TransportError) {
        presentation = presentation?.withoutContents
        patchable = nil
        linked = nil
        outcome = .failed(failure)
        indexes = PresentationSource.Indexes()
        events = SegmentEvents()
    }
}
