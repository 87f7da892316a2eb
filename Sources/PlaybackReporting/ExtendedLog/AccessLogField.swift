import MediaTiming

/// The fields of an access log in text form, in the order in which they are written.
///
/// The fields that AVFoundation writes come first, in its order, followed by the others.
enum AccessLogField: String, CaseIterable {
    case uri
    case playbackSessionID = "cs-guid"
    case serverAddress = "s-ip"
    case numberOfServerAddressChanges = "s-ip-changes"
    case numberOfMediaRequests = "sc-count"
    case segmentsDownloadedDuration = "c-duration-downloaded"
    case playbackStartOffset = "c-start-time"
    case durationWatched = "c-duration-watched"
    case numberOfBytesTransferred = "bytes"
    case observedBitrate = "c-observed-bitrate"
    case indicatedBitrate = "sc-indicated-bitrate"
    case numberOfStalls = "c-stalls"
    case numberOfDroppedVideoFrames = "c-frames-dropped"
    case startupTime = "c-startup-time"
    case downloadOverdue = "c-overdue"
    case observedMinBitrate = "c-observed-min-bitrate"
    case observedMaxBitrate = "c-observed-max-bitrate"
    case observedBitrateStandardDeviation = "c-observed-bitrate-sd"
    case playbackType = "s-playback-type"
    case mediaRequestsWWAN = "sc-wwan-count"
    case switchBitrate = "c-switch-bitrate"
    case transferDuration = "c-transfer-duration"
    case indicatedAverageBitrate = "sc-indicated-avg-bitrate"
    case averageVideoBitrate = "c-avg-video-bitrate"
    case averageAudioBitrate = "c-avg-audio-bitrate"

    /// The type and property of a field's value.
    private enum Storage {
        case text(WritableKeyPath<AccessLog.Event, String?>)
        case count(WritableKeyPath<AccessLog.Event, Int?>)
        case duration(WritableKeyPath<AccessLog.Event, Duration?>)
        case rate(WritableKeyPath<AccessLog.Event, BitRate?>)
        case bytes
        case type
    }

    private var storage: Storage {
        switch self {
        case .uri: .text(\.uri)
        case .playbackSessionID: .text(\.playbackSessionID)
        case .serverAddress: .text(\.serverAddress)
        case .numberOfServerAddressChanges: .count(\.numberOfServerAddressChanges)
        case .numberOfMediaRequests: .count(\.numberOfMediaRequests)
        case .segmentsDownloadedDuration: .duration(\.segmentsDownloadedDuration)
        case .playbackStartOffset: .duration(\.playbackStartOffset)
        case .durationWatched: .duration(\.durationWatched)
        case .numberOfBytesTransferred: .bytes
        case .observedBitrate: .rate(\.observedBitrate)
        case .indicatedBitrate: .rate(\.indicatedBitrate)
        case .numberOfStalls: .count(\.numberOfStalls)
        case .numberOfDroppedVideoFrames: .count(\.numberOfDroppedVideoFrames)
        case .startupTime: .duration(\.startupTime)
        case .downloadOverdue: .count(\.downloadOverdue)
        case .observedMinBitrate: .rate(\.observedMinBitrate)
        case .observedMaxBitrate: .rate(\.observedMaxBitrate)
        case .observedBitrateStandardDeviation: .rate(\.observedBitrateStandardDeviation)
        case .playbackType: .type
        case .mediaRequestsWWAN: .count(\.mediaRequestsWWAN)
        case .switchBitrate: .rate(\.switchBitrate)
        case .transferDuration: .duration(\.transferDuration)
        case .indicatedAverageBitrate: .rate(\.indicatedAverageBitrate)
        case .averageVideoBitrate: .rate(\.averageVideoBitrate)
        case .averageAudioBitrate: .rate(\.averageAudioBitrate)
        }
    }

    /// Returns the text of the field; `-` for an unknown or negative value.
    func text(of event: AccessLog.Event) -> String {
        let digits: String?
        switch storage {
        case .text(let property): return ExtendedLogText.encode(event[keyPath: property])
        case .count(let property): digits = event[keyPath: property].flatMap { $0 < 0 ? nil : String($0) }
        case .duration(let property):
            digits = event[keyPath: property].flatMap { $0 < .zero ? nil : $0.decimalSeconds }
        case .rate(let property): digits = event[keyPath: property].map { String($0.bitsPerSecond) }
        case .bytes: digits = event.numberOfBytesTransferred.map { String($0.bytes) }
        case .type: digits = event.playbackType?.rawValue
        }
        return digits ?? ExtendedLogText.unknown
    }

    /// Parses the text of a field into an event; a negative number means that the value is unknown, as in AVFoundation.
    ///
    /// - Returns: Whether the text is valid for the field.
    func store(_ text: String, in event: inout AccessLog.Event) -> Bool {
        switch storage {
        case .text(let property):
            event[keyPath: property] = text
            return true
        case .type:
            // A playback type that is not supported is stored as unknown.
            event.playbackType = PlaybackType(rawValue: text)
            return true
        default: break
        }
        guard let figure = DecimalNumber(text) else { return false }
        guard figure.scaledValue >= 0 else { return true }
        switch storage {
        case .count(let property):
            guard let number = figure.whole.flatMap(Int.init(exactly:)) else { return false }
            event[keyPath: property] = number
        case .duration(let property): event[keyPath: property] = Duration(attoseconds: figure.scaledValue)
        case .rate(let property):
            guard let rate = figure.rounded else { return false }
            event[keyPath: property] = BitRate(bitsPerSecond: rate)
        case .bytes:
            guard let bytes = figure.whole else { return false }
            event.numberOfBytesTransferred = ByteCount(bytes)
        case .text, .type: break
        }
        return true
    }
}
