import CFFmpeg

/// How brightness and colour differences become red, green and blue (ITU-T H.273 §8.3).
public enum ColorMatrix: Sendable, Hashable {
    /// Standard definition.
    case bt601
    /// High definition.
    case bt709
    /// Ultra-high definition.
    case bt2020

    /// What a frame says, else what its size suggests: high definition begins at 720 rows.
    init(_ space: AVColorSpace, height: Int) {
        switch space {
        case AVCOL_SPC_BT709: self = .bt709
        case AVCOL_SPC_BT470BG, AVCOL_SPC_SMPTE170M, AVCOL_SPC_FCC: self = .bt601
        case AVCOL_SPC_BT2020_NCL, AVCOL_SPC_BT2020_CL: self = .bt2020
        default: self = height >= 720 ? .bt709 : .bt601
        }
    }

    /// The scaler's name for it.
    var coefficients: UnsafePointer<Int32>? {
        switch self {
        case .bt601: unsafe sws_getCoefficients(SWS_CS_ITU601)
        case .bt709: unsafe sws_getCoefficients(SWS_CS_ITU709)
        case .bt2020: unsafe sws_getCoefficients(SWS_CS_BT2020)
        }
    }
}
