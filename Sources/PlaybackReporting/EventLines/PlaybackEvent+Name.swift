extension PlaybackEvent.Kind {
    /// The name of the kind in event lines, which does not change between versions.
    public var name: String {
        switch self {
        case .statusChanged: "status"
        case .playbackTypeKnown: "playbackType"
        case .rateChanged: "rate"
        case .timeControlChanged: "timeControl"
        case .resourceRequest: "request"
        case .segmentLoaded: "segmentLoaded"
        case .segmentSkipped: "segmentSkipped"
        case .likelyToKeepUp: "likelyToKeepUp"
        case .stalled: "stall"
        case .stallEnded: "stallEnd"
        case .seekStarted: "seek"
        case .seekEnded: "seekEnd"
        case .timeJumped: "timeJump"
        case .variantSwitchStarted: "variantSwitchStart"
        case .variantSwitched: "variantSwitch"
        case .pathwayChanged: "pathwayChange"
        case .selectionChanged: "selectionChange"
        case .tracksChanged: "trackChange"
        case .seekableRangeChanged: "seekableRange"
        case .timedMetadata: "timedMetadata"
        case .frames: "frames"
        case .error: "error"
        case .playedToEnd: "end"
        case .failedToPlayToEnd: "failedToEnd"
        case .ended: "sessionEnd"
        }
    }
}
