import MediaTiming
package import ReportFormat

/// A part of a presentation that HLS cannot describe, or that the translation changes.
package struct TranslationLoss: Sendable, Hashable {
    /// The kind of a loss; the raw value is stable, for logs and filters.
    package enum Code: String, Sendable, Hashable, CaseIterable {
        case protected = "protected"
        case unknownProperty = "unknown-essential-property"
        case unsupportedType = "unsupported-media-type"
        case unsupportedContainer = "unsupported-container"
        case unsupportedText = "unsupported-text-format"
        case thumbnails = "thumbnails"
        case trickPlay = "trick-play"
        case dependentRepresentation = "dependent-representation"
        case alternativeVideo = "alternative-video"
        case remoteElement = "remote-element"
        case unaddressed = "no-segments"
        case missingInitialization = "missing-initialization-segment"
        case missingIndex = "missing-segment-index"
        case unmatchedTrack = "unmatched-track"
        case emptyPeriod = "empty-period"
        case textRepresentation = "text-representation"
        case tooManyTracks = "too-many-tracks"
        case alternativeAddress = "alternative-base-url"
        case contentSteering = "content-steering"
        case inbandEvents = "in-band-events"
        case event = "event"
        case invalidLanguage = "invalid-language"
        case changedTargetDuration = "changed-target-duration"
        case laterTrack = "later-track"
        case hole = "timeline-hole"
        case omittedLosses = "omitted-losses"
    }

    /// The kind of the loss.
    package let code: Code
    /// A description of the loss, for display.
    package let message: String
    /// The line of the manifest that the loss concerns, or `nil` if it concerns the whole presentation.
    package let line: Int?

    /// Creates a loss.
    package init(_ code: Code, _ message: String, line: Int? = nil) {
        self.code = code
        self.message = message
        self.line = line
    }

    /// The loss as a report; missing values are omitted.
    package var report: ReportValue {
        .fields([
            "code": .string(code.rawValue), "line": line.map { .integer($0) }, "message": .string(message),
        ])
    }
}

/// A list of losses without repetitions, whose length is bounded.
struct TranslationLosses {
    private var list: [TranslationLoss] = []
    private var known: Set<TranslationLoss> = []
    private var omittedCount = 0
    private let maximumCount: Int

    init(maximumCount: Int) { self.maximumCount = maximumCount }

    /// The first loss, which explains why nothing can be played.
    var first: TranslationLoss? { list.first }

    mutating func append(_ code: TranslationLoss.Code, _ message: String, line: Int? = nil) {
        let loss = TranslationLoss(code, message, line: line)
        guard !known.contains(loss) else { return }
        guard list.count < maximumCount else {
            omittedCount +|= 1
            return
        }
        known.insert(loss)
        list.append(loss)
    }

    /// All losses, the last of which counts those that exceed the limit.
    var all: [TranslationLoss] {
        guard omittedCount > 0 else { return list }
        return list + [TranslationLoss(.omittedLosses, "\(omittedCount) further losses are omitted")]
    }
}
