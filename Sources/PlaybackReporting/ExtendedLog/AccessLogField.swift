import MediaTiming

/// The fields of an access log in text form, in the order in which they are written.
///
/// The fields that AVFoundation writes come first, in its order, followed by the others. A field is a case with the
/// name of its property in ``AccessLog/Event``, and its ``definition``, which the compiler requires for every case.
/// Initial values, writing, reading, merging, totals and the table in `docs/formats/extended-logs.md` follow from it.
package enum AccessLogField: String, CaseIterable, Sendable {
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

    /// The type of the field, its rules and its meaning.
    var definition: AccessLogFieldDefinition {
        switch self {
        case .uri:
            AccessLogFieldDefinition(\.uri, merging: .common, total: .none, "URL of the variant's playlist")
        case .playbackSessionID:
            AccessLogFieldDefinition(
                \.playbackSessionID,
                merging: .firstEvent,
                total: .none,
                "identifier of the session"
            )
        case .serverAddress:
            AccessLogFieldDefinition(
                \.serverAddress,
                merging: .last,
                total: .none,
                "address of the server that sent the last segment"
            )
        case .numberOfServerAddressChanges:
            AccessLogFieldDefinition(
                \.numberOfServerAddressChanges,
                merging: .sum,
                // As long as no address is known, the number of its changes is unknown too.
                total: .sum(\.numberOfServerAddressChanges, startsAtZero: false),
                "how often it changed"
            )
        case .numberOfMediaRequests:
            AccessLogFieldDefinition(
                \.numberOfMediaRequests,
                merging: .sum,
                total: .sum(\.numberOfMediaRequests),
                "media segments transferred"
            )
        case .segmentsDownloadedDuration:
            AccessLogFieldDefinition(
                \.segmentsDownloadedDuration,
                merging: .sum,
                total: .sum(\.segmentsDownloadedDuration),
                "media time of these segments"
            )
        case .playbackStartOffset:
            AccessLogFieldDefinition(
                \.playbackStartOffset,
                merging: .first,
                total: .none,
                "media time at which the period began"
            )
        case .durationWatched:
            AccessLogFieldDefinition(
                \.durationWatched,
                merging: .sum,
                total: .sum(\.durationWatched),
                "media time that was played"
            )
        case .numberOfBytesTransferred:
            AccessLogFieldDefinition(
                \.numberOfBytesTransferred,
                merging: .sum,
                total: .sum(\.numberOfBytesTransferred),
                "everything transferred"
            )
        case .observedBitrate:
            AccessLogFieldDefinition(
                \.observedBitrate,
                merging: .average(over: \.transferDuration),
                total: .none,
                "bits of media segments, divided by the time during which at least one was being requested"
            )
        case .indicatedBitrate:
            AccessLogFieldDefinition(
                \.indicatedBitrate,
                merging: .average(over: \.durationWatched),
                total: .averages(
                    overKnown: \.timeWeightedIndicatedBitrate,
                    overAll: \.timeWeightedIndicatedBitrateIncludingUnknown
                ),
                "BANDWIDTH of the variant"
            )
        case .numberOfStalls:
            AccessLogFieldDefinition(\.numberOfStalls, merging: .sum, total: .sum(\.numberOfStalls), "stalls")
        case .numberOfDroppedVideoFrames:
            AccessLogFieldDefinition(
                \.numberOfDroppedVideoFrames,
                merging: .sum,
                total: .sumOfKnown(\.numberOfDroppedVideoFrames),
                "frames that were too late"
            )
        case .startupTime:
            AccessLogFieldDefinition(
                \.startupTime,
                merging: .first,
                total: .none,
                "until the item could be played; the first entry only"
            )
        case .downloadOverdue:
            AccessLogFieldDefinition(
                \.downloadOverdue,
                merging: .sum,
                total: .sum(\.downloadOverdue),
                "segments that took longer to load than they play"
            )
        case .observedMinBitrate:
            AccessLogFieldDefinition(
                \.observedMinBitrate,
                merging: .minimum,
                total: .none,
                "lowest rate of a single segment"
            )
        case .observedMaxBitrate:
            AccessLogFieldDefinition(
                \.observedMaxBitrate,
                merging: .maximum,
                total: .none,
                "highest rate of a single segment"
            )
        case .observedBitrateStandardDeviation:
            AccessLogFieldDefinition(
                \.observedBitrateStandardDeviation,
                merging: .unknown,
                total: .none,
                "standard deviation of the rates of single segments"
            )
        case .playbackType:
            AccessLogFieldDefinition(\.playbackType, merging: .last, total: .none, "`VOD`, `LIVE` or `FILE`")
        case .mediaRequestsWWAN:
            AccessLogFieldDefinition(
                \.mediaRequestsWWAN,
                merging: .sum,
                total: .none,
                "requests over a cellular network"
            )
        case .switchBitrate:
            AccessLogFieldDefinition(
                \.switchBitrate,
                merging: .unknown,
                total: .none,
                "estimated throughput when the variant was switched; entries that begin with a switch only"
            )
        case .transferDuration:
            AccessLogFieldDefinition(
                \.transferDuration,
                merging: .sum,
                total: .sum(\.transferDuration),
                "time during which bytes arrived"
            )
        case .indicatedAverageBitrate:
            AccessLogFieldDefinition(
                \.indicatedAverageBitrate,
                merging: .average(over: \.durationWatched),
                total: .none,
                "AVERAGE-BANDWIDTH of the variant"
            )
        case .averageVideoBitrate:
            AccessLogFieldDefinition(
                \.averageVideoBitrate,
                merging: .average(over: \.durationWatched),
                total: .none,
                "bit rate of the loaded video"
            )
        case .averageAudioBitrate:
            AccessLogFieldDefinition(
                \.averageAudioBitrate,
                merging: .average(over: \.durationWatched),
                total: .none,
                "bit rate of the loaded audio; unknown if it shares segments with video"
            )
        }
    }

    /// The definitions of all fields by name.
    static var definitions: [String: AccessLogFieldDefinition] {
        Dictionary(uniqueKeysWithValues: allCases.map { ($0.rawValue, $0.definition) })
    }

    /// Returns the property of the field if its values have the given type, or else `nil`.
    package func property<Value>(of type: Value.Type) -> WritableKeyPath<AccessLog.Event, Value?>? {
        definition.property as? WritableKeyPath<AccessLog.Event, Value?>
    }

    /// The row of the field in the table of the documentation.
    package var documentation: String {
        let definition = definition
        let unit = definition.unit.isEmpty ? "" : definition.unit + " "
        return "| `\(rawValue)` | \(unit)| \(definition.meaning) | `\(self)` |"
    }
}
