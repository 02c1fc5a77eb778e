-- checkpoint: resume inside a range after a kill.

-- Takes the checkpoint over: older holders can not save any more. Errors: EG004, EG005.
CREATE OR REPLACE FUNCTION escapement_guard.checkpoint_open(p_key text, OUT saved jsonb, OUT token text)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
  v_date date := escapement_guard.key_date(p_key);
BEGIN
  INSERT INTO escapement_guard.checkpoint AS c (key, key_date, token) VALUES (p_key, v_date, nextval('escapement_guard.token'))
    -- Drawn under the row lock, so the later opener always has the greater token.
    ON CONFLICT (key) DO UPDATE SET token = nextval('escapement_guard.token'), opened_at = clock_timestamp()
    RETURNING c.position, c.token::text INTO saved, token;
  PERFORM escapement_guard.check_age(p_key, v_date);
END $$;

-- Saves the position in the transaction of the rows it stands for. With p_ask, NULL when the
-- transaction was not marked yet. Errors: EG001, EG002 someone opened it after us.
CREATE OR REPLACE FUNCTION escapement_guard.checkpoint_save(p_key text, p_token bigint, p_position jsonb, p_ask boolean DEFAULT false) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF NOT escapement_guard.entered(p_ask) THEN RETURN NULL; END IF;
  UPDATE escapement_guard.checkpoint SET position = p_position, saved_at = clock_timestamp() WHERE key = p_key AND token = p_token;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'checkpoint % was taken over', p_key
      USING ERRCODE = 'EG002', HINT = 'someone else goes on from the last saved position; stop and write nothing more';
  END IF;
  RETURN true;
END $$;
